package pgtemp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"
)

// CreateDatabase makes an empty database unless there is one of that name.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	c, err := pq.NewConnector(s.DSN(""))
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	db := sql.OpenDB(c)
	defer db.Close()
	conn, err := db.Conn(ctx) // a statement outside of transactions, run at most once
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "create database "+pq.QuoteIdentifier(name))
	if pe, ok := errors.AsType[*pq.Error](err); ok && (pe.Code == "42P04" || pe.Code == "23505") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}
