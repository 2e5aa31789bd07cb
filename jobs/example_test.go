package jobs_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// README.md shows what stands between the two markers; a test compares them.

// readme: begin
type Welcome struct{ UserID int64 }

func (Welcome) Kind() string { return "welcome" }

func welcome(ctx context.Context, job *jobs.Job[Welcome]) error {
	return sendMail(ctx, job.Args.UserID) // an error, a panic, a killed process: it runs again
}

func work(ctx context.Context, client *jobs.Client, app *fiber.App) error {
	jobs.Handle(client, welcome, jobs.Retry(jobs.RetryPolicy{
		MaxRetries: 3,
		Delays:     []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second},
	}))
	if _, err := web.Mount(app, "/jobs", client, web.Options{Access: web.None()}); err != nil {
		return err
	}
	return client.Run(ctx) // until ctx ends and the running jobs have settled
}

func signUp(ctx context.Context, client *jobs.Client, tx *sql.Tx, user int64) error {
	_, err := client.EnqueueTx(ctx, tx, Welcome{UserID: user}, jobs.In(time.Minute))
	return err // no job before tx commits, none at all if it rolls back
}

// readme: end

func sendMail(_ context.Context, user int64) error {
	_, err := fmt.Println("welcome", user)
	return err
}

// A whole program: the functions above, a database and an app.
func Example() {
	ctx := context.Background()
	db, err := jobs.Open(os.Getenv("DATABASE_URL"))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	client, err := jobs.New(db, jobs.Config{Workers: 20})
	if err != nil {
		panic(err)
	}
	app := fiber.New()
	go app.Listen("127.0.0.1:3000")

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		panic(err)
	}
	defer tx.Rollback()
	if err := signUp(ctx, client, tx, 42); err != nil {
		panic(err)
	}
	if err := tx.Commit(); err != nil {
		panic(err)
	}
	if err := work(ctx, client, app); err != nil {
		panic(err)
	}
}
