package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// river runs the same sub-bench through River, in a module of its own, on the
// same server and just before ours, and prints its figures.
func (b *bench) river(ctx context.Context, name string) error {
	if b.server == nil {
		return errors.New("--river needs the private server: leave --database out")
	}
	_, here, _, _ := runtime.Caller(0)
	module := filepath.Join(filepath.Dir(here), "river")
	if _, err := os.Stat(module); err != nil {
		return fmt.Errorf("--river works from a checkout of the source only: %w", err)
	}
	database := fmt.Sprintf("river_%d", time.Now().UnixNano())
	if err := b.server.CreateDatabase(ctx, database); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "-C", module, ".", name,
		b.server.DSN(database), strconv.Itoa(b.Jobs), strconv.Itoa(b.Workers), strconv.Itoa(b.ArgBytes),
		strconv.Itoa(b.Aged), strconv.Itoa(b.Rate), strconv.Itoa(b.Seconds))
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	used := between{b: b, begun: map[string]spent{}}
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		var f Figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			continue
		}
		if f.Engine = "river"; f.Unit == soFar {
			used.hear(f)
		} else {
			b.print(f)
		}
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	// What River leaves behind would be vacuumed during our run.
	return b.server.DropDatabase(ctx, database)
}
