package store

import (
	"context"
	"fmt"
	"strconv"
)

const oldestServer = 14

// CheckVersion asks the server for its version and refuses one older than Postgres 14.
func (db *DB) CheckVersion(ctx context.Context) error {
	var num, name string
	err := db.QueryRowContext(ctx, `select current_setting('server_version_num'), current_setting('server_version')`).Scan(&num, &name)
	if err != nil {
		return fmt.Errorf("ask the server's version: %w", err)
	}
	return checkVersion(num, name)
}

func checkVersion(num, name string) error {
	n, err := strconv.Atoi(num)
	if err != nil {
		return fmt.Errorf("server version %q cannot be read: Postgres %d or newer is needed", num, oldestServer)
	}
	if n/10000 < oldestServer {
		return fmt.Errorf("the server is Postgres %s: Postgres %d or newer is needed", name, oldestServer)
	}
	return nil
}
