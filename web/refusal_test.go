package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/web"
)

// What a stranger wrote stands in a refusal as it is, in the language of the reader;
// a percent sign in it is no verb.
func TestRefusalsKeepForeignWords(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	for cookie, said := range map[string][]string{
		"":                   {"This was refused", "another site (100%d%s)."},
		"tekrar_language=tr": {`lang="tr"`, "Bu reddedildi", "İstek başka bir siteden geldi (100%d%s)."},
	} {
		a := x.do("POST", "/jobs/act", url.Values{}, headers{"Sec-Fetch-Site": "100%d%s", "Cookie": cookie}).wants(t, 403, said...)
		if strings.Contains(a.body, "%!") || strings.Contains(a.body, "MISSING") {
			t.Errorf("%q: %s", cookie, clip(a.body))
		}
	}
	tr := headers{"Cookie": "tekrar_language=tr", "Sec-Fetch-Site": "same-origin"}
	x.do("GET", "/claims?tab=%25d", nil, tr).wants(t, 400, "%d")
	x.do("GET", "/claims?100%25d=1", nil, tr).wants(t, 400, "Bilinmeyen süzgeç: &#34;100%d&#34;. Bilinenler: tab, after, key.")
	x.do("POST", "/demo/enqueue", url.Values{"card": {"note"}, "delay": {"-1"}}, tr).wants(t, 400, "Bekleme: 0 ile 86400 arasında")
	x.do("POST", "/claims-purge", url.Values{"do": {"run"}}, tr).wants(t, 409, "Temizlik çalıştıran sunucu yok")
}

// Without a login a proxy is refused by the name of its header.
func TestProxyRefusedInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.do("GET", "/claims", nil, headers{"X-Real-Ip": "10.0.0.1"}).wants(t, 403, "came through a proxy (X-Real-Ip).")
	x.do("GET", "/claims", nil, headers{"X-Real-Ip": "10.0.0.1", "Cookie": "tekrar_language=tr"}).wants(t, 403, "bir vekil sunucudan geldi (X-Real-Ip).")
}
