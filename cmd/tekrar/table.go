package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// table writes columns under a head; every cell is made safe for a terminal.
func (p *program) table(head string, rows [][]string) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ReplaceAll(head, " ", "\t"))
	for _, row := range rows {
		fmt.Fprintln(t, cells(row))
	}
	return t.Flush()
}

// sheet writes names and values; pairs without a value are left out.
func (p *program) sheet(pairs ...[2]string) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, pair := range pairs {
		if pair[1] != "" {
			fmt.Fprintln(t, cells(pair[:]))
		}
	}
	return t.Flush()
}

func cells(row []string) string {
	var safe []string
	for _, cell := range row {
		if cell == "" {
			cell = "-"
		}
		safe = append(safe, plain(cell))
	}
	return strings.Join(safe, "\t")
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// stampOf is empty for a time that is not there.
func stampOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return stamp(*t)
}

// inUTC is a time for JSON.
func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// age is a length of time for eyes.
func age(d time.Duration) string { return max(d, 0).Round(time.Second).String() }
