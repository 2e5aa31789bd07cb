package bookstore

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// pages is the dashboard of a lab.
type pages string

func openPages(t *testing.T, l lab) pages {
	t.Helper()
	s, err := web.Listen("127.0.0.1:0", "", l.shop.client, web.Options{Access: web.None(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return pages("http://" + s.Addr())
}

// tell checks that the pages of a job and of its claim say how the row ended.
func (p pages) tell(t *testing.T, d store.JobDetail, invoice int64, outcome string) {
	t.Helper()
	claim := strings.Fields(outcome)[1]
	says := []string{d.State.String()}
	if strings.HasSuffix(outcome, "held") {
		says = append(says, "outcome unknown")
	}
	p.says(t, fmt.Sprintf("/jobs/%d", d.ID), says...)
	page := p.says(t, fmt.Sprintf("/claims/invoice-email:%d", invoice), claim)
	// A person is asked to decide exactly where nobody knows.
	if asks := strings.Contains(page, "mark delivered"); asks != (claim == "unknown") {
		t.Errorf("the page of a claim that is %s asks for a decision: %v", claim, asks)
	}
	if claim == "done" && !strings.Contains(page, "msg-") {
		t.Errorf("the page of invoice %d shows no receipt", invoice)
	}
}

// says checks that a page has the texts, and gives it in small letters.
func (p pages) says(t *testing.T, path string, texts ...string) string {
	t.Helper()
	resp, err := http.Get(string(p) + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d %v", path, resp.StatusCode, err)
	}
	_, main, _ := strings.Cut(strings.ToLower(string(body)), "<main")
	for _, text := range texts {
		if !strings.Contains(main, text) {
			t.Errorf("%s does not say %q", path, text)
		}
	}
	return main
}
