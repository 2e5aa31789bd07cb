package web_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/web"
)

// The list of claims moves in place: a claim that left the list stays, dimmed and in
// its new state, and one that came is news. The page of a claim follows it.
func TestClaimPagesMove(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	e := x.claimed("a/b", "unknown")
	x.claimed("other", "unknown")
	list, page := x.openAsPage("/claims?tab=unknown"), x.openAsPage("/claims/a%2Fb")
	row := views.ClaimRowID("a/b")
	await(t, list, "the row, as the page has it", row, has("unknown"))
	await(t, page, "the header", "claim-header", has("unknown"))
	x.claimed("third", "unknown")
	x.post("/claims-act", decided("delivered", e)).wants(t, 303)
	await(t, list, "the row, dimmed and done", row, func(html string) bool {
		return strings.Contains(html, `class="gone"`) && strings.Contains(html, "done")
	})
	await(t, page, "the receipt", "claim-story", has("marked_by"))
	x.claimed("fourth", "unknown")
	for deadline := time.Now().Add(20 * time.Second); ; {
		f, err := read(t, list)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the fourth is not news: %v", err)
		}
		if f.News == 2 {
			break
		}
	}
}

// A call whose answer comes is patched where it stands; a newer one is news.
func TestCallsMove(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id, err := x.db.BeginCall(t.Context(), store.ProviderCall{Provider: "mailer", Key: "k", Payload: "p"})
	if err != nil {
		t.Fatal(err)
	}
	list := x.openAsPage("/calls")
	row := "call-row-" + strconv.FormatInt(id, 10)
	await(t, list, "the call, as the page has it", row, has("no answer on record"))
	if err := x.db.EndCall(t.Context(), id, store.ProviderCall{Outcome: "delivered", Status: 200, Reference: "msg-0001", Replayed: true, Duration: time.Second}); err != nil {
		t.Fatal(err)
	}
	f := await(t, list, "its answer", row, func(html string) bool {
		return strings.Contains(html, "msg-0001") && strings.Contains(html, "replayed")
	})
	if f.News != 0 {
		t.Errorf("%d news", f.News)
	}
	if _, err := x.db.BeginCall(t.Context(), store.ProviderCall{Provider: "mailer", Key: "k", Payload: "p"}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		f, err := read(t, list)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the second is not news: %v", err)
		}
		if f.News == 1 {
			break
		}
	}
}
