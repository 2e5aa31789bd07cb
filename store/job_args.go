package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lib/pq"
)

// ArgsOf reads the arguments of jobs by id; ids without a job are left out.
func (db *DB) ArgsOf(ctx context.Context, ids []int64) (map[int64]json.RawMessage, error) {
	var rows []struct {
		ID   int64           `db:"id"`
		Args json.RawMessage `db:"args"`
	}
	err := db.SelectContext(ctx, &rows, db.sql(`select j.id, j.args from unnest($1::bigint[]) u(id)
cross join lateral (select id, args from tekrar.jobs where id = u.id offset 0) j`), pq.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("read args: %w", err)
	}
	args := make(map[int64]json.RawMessage, len(rows))
	for _, r := range rows {
		args[r.ID] = r.Args
	}
	return args, nil
}
