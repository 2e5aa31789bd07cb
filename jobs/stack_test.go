package jobs

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

//go:noinline
func userBreaks(n int) int {
	if n == 0 {
		var p *int
		return *p
	}
	return userBreaks(n-1) + 1
}

// caught runs f the way an engine does and gives the stack it would keep.
func caught(f func()) (stack string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			_ = recover()
			stack = string(debug.Stack())
		}()
		f()
	}()
	<-done
	return stack
}

func TestERR10UserFramesFirst(t *testing.T) {
	t.Parallel()
	got := trimStack(caught(func() { userBreaks(0) }))
	if !strings.HasPrefix(got, modulePath+"jobs.userBreaks\n\t") || strings.Contains(got, "debug.Stack") || strings.Contains(got, "sigpanic") {
		t.Errorf("nil pointer:\n%s", got)
	}
	got = trimStack(caught(func() { runtime.Goexit() }))
	if first, _, _ := strings.Cut(got, "\n"); !strings.Contains(first, "TestERR10UserFramesFirst") {
		t.Errorf("Goexit:\n%s", got)
	}
	got = trimStack(caught(func() {
		defer func() { userBreaks(0) }()
		panic("first")
	}))
	if !strings.HasPrefix(got, modulePath+"jobs.userBreaks\n") {
		t.Errorf("panic during a panic:\n%s", got)
	}
}

func TestERR10EngineFramesAreFolded(t *testing.T) {
	t.Parallel()
	in := `goroutine 34 [running]:
runtime/debug.Stack()
	/go/src/runtime/debug/stack.go:26 +0x5e
github.com/tekrar/tekrar/jobs.(*attempt).run.func1()
	/src/tekrar/jobs/run.go:88 +0x4c
panic({0x6b2a40?, 0xc000012345?})
	/go/src/runtime/panic.go:860 +0x13a
example.com/shop.(*Importer).Import(0xc0001, {0x1, 0x2})
	/src/shop/import.go:17 +0x51
example.com/shop.Handle.func1(...)
	/src/shop/main.go:9
github.com/tekrar/tekrar/jobs.Handle[...].func1({0x7, 0xc0}, 0xc1)
	/src/tekrar/jobs/handle.go:80 +0x77
github.com/tekrar/tekrar/jobs.(*attempt).run(0xc2)
	/src/tekrar/jobs/run.go:95 +0x99
github.com/acme/trace.Middleware(...)
	/src/trace/mw.go:5
github.com/tekrar/tekrar/jobs.(*pool).work(0xc3)
	/src/tekrar/jobs/run.go:40 +0x31
created by github.com/tekrar/tekrar/jobs.(*Client).Run in goroutine 1
	/src/tekrar/jobs/run.go:30 +0x20
`
	want := `example.com/shop.(*Importer).Import
	/src/shop/import.go:17
example.com/shop.Handle.func1
	/src/shop/main.go:9
… engine frames: 2
github.com/acme/trace.Middleware
	/src/trace/mw.go:5
… engine frames: 2`
	if got := trimStack(in); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestStackOfTheEngineItselfIsKept(t *testing.T) {
	t.Parallel()
	in := "goroutine 1 [running]:\npanic(0x1)\n\t/go/panic.go:1 +0x1\n" + modulePath + "jobs.decodeArgs(0x1)\n\t/x/jobs/args.go:5 +0x1\n"
	if got, want := trimStack(in), modulePath+"jobs.decodeArgs\n\t/x/jobs/args.go:5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, odd := range []string{"", "no stack at all", "\t\n\n", "panic()", "...5 frames elided..."} {
		if got := trimStack(odd); len(got) > len(odd)+20 {
			t.Errorf("%q became %q", odd, got)
		}
	}
}

func TestERR03DeepStacksAreBounded(t *testing.T) {
	t.Parallel()
	got := trimStack(caught(func() { userBreaks(10_000) }))
	if !strings.HasPrefix(got, modulePath+"jobs.userBreaks\n") || !strings.Contains(got, "more times the same") ||
		!strings.Contains(got, "elided") || strings.Count(got, "\n") > 30 {
		t.Errorf("%d lines:\n%s", strings.Count(got, "\n"), got)
	}
	var in strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&in, "shop.f%d(0x1)\n\t/shop/f.go:%d +0x1\n", i, i)
	}
	got = trimStack(in.String())
	if strings.Count(got, "\n") != 2*(topFrames+bottomFrames) || !strings.Contains(got, "… 9920 more frames\n") ||
		!strings.HasPrefix(got, "shop.f0\n") || !strings.HasSuffix(got, "f.go:9999") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}
