package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestProviderCalls(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	call := store.ProviderCall{Provider: "mailer", Key: "invoice-email:42", SentKey: "h-1", Payload: "p", JobID: 7, Attempt: 2}
	var ids []int64
	for range 3 {
		id, err := db.BeginCall(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	call.Status, call.Outcome, call.Replayed, call.Reference, call.Duration = 200, "delivered", true, "msg-0001", 1500*time.Microsecond
	if err := db.EndCall(t.Context(), ids[1], call); err != nil {
		t.Fatal(err)
	}
	other := call
	other.Status, other.Outcome = 500, "unknown"
	if err := db.EndCall(t.Context(), ids[1], other); err != nil { // a second end changes nothing
		t.Fatal(err)
	}
	rows, err := db.ProviderCalls(t.Context(), store.ProviderCallFilter{JobID: 7, Key: call.Key, Limit: 2})
	if err != nil || len(rows) != 2 || rows[0].ID != ids[2] || rows[0].EndedAt != nil || rows[0].Outcome != "" {
		t.Fatalf("%+v %v", rows, err)
	}
	if r := rows[1]; r.Status != 200 || r.Outcome != "delivered" || !r.Replayed || r.Reference != "msg-0001" || r.Duration() != call.Duration || r.SentKey != "h-1" || r.Attempt != 2 {
		t.Errorf("%+v", r)
	}
	if rows, err = db.ProviderCalls(t.Context(), store.ProviderCallFilter{BeforeID: rows[1].ID}); err != nil || len(rows) != 1 || rows[0].ID != ids[0] {
		t.Errorf("next page: %+v %v", rows, err)
	}
	if rows, err = db.ProviderCalls(t.Context(), store.ProviderCallFilter{Key: "nobody's"}); err != nil || len(rows) != 0 {
		t.Errorf("unknown key: %+v %v", rows, err)
	}
}

func TestExpireProviderCalls(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	fill := func(n int, age string) {
		err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
			_, err := tx.Exec(fmt.Sprintf(`insert into tekrar.provider_calls (at, provider, key, payload)
select clock_timestamp() - interval '%s', 'mailer', 'k', 'p' from generate_series(1, %d)`, age, n))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fill(2500, "31 days")
	fill(10, "29 days")
	for _, want := range []int64{2500, 0} {
		if n, err := db.ExpireProviderCalls(t.Context(), 30*24*time.Hour); err != nil || n != want {
			t.Errorf("%d went, want %d: %v", n, want, err)
		}
	}
	if rows, err := db.ProviderCalls(t.Context(), store.ProviderCallFilter{Limit: 100}); err != nil || len(rows) != 10 {
		t.Errorf("%d left, want 10: %v", len(rows), err)
	}
}
