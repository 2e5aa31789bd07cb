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
	err := s.command(ctx, "create database "+pq.QuoteIdentifier(name))
	if pe, ok := errors.AsType[*pq.Error](err); ok && (pe.Code == "42P04" || pe.Code == "23505") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// DropDatabase removes a database with everything in it and ends the connections to
// it. Nothing happens if there is none.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	if err := s.command(ctx, "drop database if exists "+pq.QuoteIdentifier(name)+" with (force)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

// command runs a statement outside of transactions, at most once.
func (s *Server) command(ctx context.Context, statement string) error {
	c, err := pq.NewConnector(s.DSN(""))
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, statement)
	return err
}
