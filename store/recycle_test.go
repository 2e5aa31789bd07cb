package store_test

import (
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// spare holds addresses of databases whose tests have ended: emptying one costs
// a fraction of copying a new one (truncate costs as much).
var spare = make(chan string, 64)

// keeper keeps a database until the tests' own server goes, with all it holds.
type keeper struct{ testing.TB }

func (keeper) Cleanup(func()) {}

// recycled is storetest.New for tests that change nothing but rows.
func recycled(t *testing.T) *store.DB {
	t.Helper()
	if storetest.Server(t) == nil { // a server that stays: its databases are dropped
		return storetest.New(t)
	}
	var dsn string
	select {
	case dsn = <-spare:
	default:
		dsn = storetest.DSN(keeper{t})
	}
	clean := false
	t.Cleanup(func() { // last, when all connections are closed
		if clean {
			select {
			case spare <- dsn:
			default:
			}
		}
	})
	db := storetest.Open(t, dsn, store.Options{})
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if err := empty(db); err != nil {
			t.Error(err)
			return
		}
		clean = true
	})
	return db
}

func empty(db *store.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec(`do $$ declare name text; begin
		for name in select tablename from pg_tables where schemaname = 'tekrar' and tablename <> 'goose_db_version' loop
			execute format('delete from tekrar.%I', name);
		end loop; end $$`); err != nil {
		return err
	}
	return tx.Commit()
}
