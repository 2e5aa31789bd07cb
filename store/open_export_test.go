package store

import "database/sql"

// RefuseSettings makes the server refuse the settings of new connections.
func RefuseSettings(db *DB) { db.conn.settings = "set no_such_setting = off" }

// MigrationPool opens the pool that migrations run on.
func MigrationPool(db *DB) (*sql.DB, error) { return db.migrationPool() }
