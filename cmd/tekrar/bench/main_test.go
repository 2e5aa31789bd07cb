package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/tekrar/tekrar/store/storetest"
)

// The chaos run starts this program again for its workers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ChaosWorkerCommand {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := RunChaosWorker(ctx, os.Getenv("DATABASE_URL"), os.Stdin, os.Stderr, os.Args[2:])
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(storetest.Run(m))
}
