package bookstore

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The page about idempotency shows the matrix that is played.
func TestDocsShowTheMatrix(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/idempotency.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## The matrix")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range matrix {
		line := fmt.Sprintf("| %s | %s | %s | %s |", row.fault, row.want[0], row.want[1], row.want[2])
		if !strings.Contains(table, line+"\n") {
			t.Errorf("docs/idempotency.md lacks the row\n%s", line)
		}
	}
	if n := strings.Count(table, "\n| ") - 1; n != len(matrix) {
		t.Errorf("docs/idempotency.md has %d rows, the matrix %d", n, len(matrix))
	}
}
