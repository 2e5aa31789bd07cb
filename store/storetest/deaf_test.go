package storetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/tekrar/tekrar/store/storetest"
)

func TestListenIsRefused(t *testing.T) {
	t.Setenv(storetest.NoListen, "1")
	db := storetest.Fresh(t) // the next test counts on the spare ones
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var refused *pq.Error
	if _, err := conn.ExecContext(t.Context(), `LISTEN "c"`); !errors.As(err, &refused) || refused.Code != "0A000" {
		t.Errorf("listen: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), `notify c`); err != nil {
		t.Errorf("the connection is of no use any more: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if db.Heard(ctx) {
		t.Error("a listener hears")
	}
}
