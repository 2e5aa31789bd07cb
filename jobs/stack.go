package jobs

import (
	"fmt"
	"strings"
)

// modulePath starts the names of this module's functions in a stack.
const modulePath = "github.com/tekrar/tekrar/"

// What is kept of a deep stack: where it broke and how it got started.
const (
	topFrames    = 60
	bottomFrames = 20
)

type frame struct {
	name, place string
	note        string // a line that stands for left-out frames, instead of a frame
	times       int
}

// trimStack shortens the text of debug.Stack to what a reader looks for. The
// frame that panicked comes first; frames of the runtime and of this engine are
// folded into one line a run; a recursion is told once, with its count; deep
// stacks keep their top and their bottom. Text it cannot read is left alone.
func trimStack(s string) string {
	frames := parseStack(s)
	frames = frames[panicAt(frames):]
	kept := fold(frames)
	users := false
	for _, f := range kept {
		users = users || f.note == ""
	}
	if !users { // it broke in the engine: then its frames are the story
		kept = frames
	}
	var b strings.Builder
	for i, f := range kept {
		if hidden := len(kept) - topFrames - bottomFrames; hidden > 0 && i >= topFrames && i < topFrames+hidden {
			if i == topFrames {
				fmt.Fprintf(&b, "… %d more frames\n", hidden)
			}
			continue
		}
		f.write(&b)
	}
	if b.Len() == 0 {
		return s
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f frame) write(b *strings.Builder) {
	if f.note != "" {
		b.WriteString(f.note + "\n")
		return
	}
	b.WriteString(f.name + "\n")
	if f.place != "" {
		b.WriteString("\t" + f.place + "\n")
	}
	if f.times > 1 {
		fmt.Fprintf(b, "… %d more times the same\n", f.times-1)
	}
}

// parseStack reads pairs of lines, function and place, and drops the header.
func parseStack(s string) []frame {
	var frames []frame
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, ":"):
		case strings.HasPrefix(line, "\t"):
			if n := len(frames); n > 0 && frames[n-1].place == "" {
				place, _, _ := strings.Cut(line[1:], " +0x")
				frames[n-1].place = place
			}
		case strings.HasPrefix(line, "...") && strings.Contains(line, "elided"):
			frames = append(frames, frame{note: "… " + strings.Trim(line, ".")})
		default:
			// Arguments are addresses: they tell a reader nothing and differ each time.
			if i := strings.LastIndexByte(line, '('); i > 0 && strings.HasSuffix(line, ")") {
				line = line[:i]
			}
			frames = append(frames, frame{name: line, times: 1})
		}
	}
	return frames
}

// panicAt finds the first frame below the newest panic, past what the runtime
// itself does to raise one.
func panicAt(frames []frame) int {
	for i, f := range frames {
		if f.name != "panic" && f.name != "runtime.Goexit" {
			continue
		}
		for i++; i < len(frames) && strings.HasPrefix(frames[i].name, "runtime."); i++ {
		}
		return min(i, len(frames))
	}
	return 0
}

// fold merges repeated frames and runs of frames that are not the user's.
func fold(frames []frame) []frame {
	var out []frame
	inner := 0
	flush := func() {
		if inner > 0 {
			out = append(out, frame{note: fmt.Sprintf("… engine frames: %d", inner)})
		}
		inner = 0
	}
	for _, f := range frames {
		if f.note == "" && f.engine() {
			inner++
			continue
		}
		flush()
		if n := len(out); n > 0 && f.note == "" && out[n-1].name == f.name && out[n-1].place == f.place {
			out[n-1].times++
			continue
		}
		out = append(out, f)
	}
	flush()
	return out
}

func (f frame) engine() bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(f.name, "created by "), " in goroutine")
	if strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "runtime/") || name == "panic" {
		return true
	}
	file, _, _ := strings.Cut(f.place, ":")
	return !strings.HasSuffix(file, "_test.go") &&
		(strings.HasPrefix(name, modulePath+"jobs.") || strings.HasPrefix(name, modulePath+"store."))
}
