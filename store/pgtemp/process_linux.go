package pgtemp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const maxSocketPath = 107

// dieWithParent asks the kernel for a clean shutdown when this process is killed.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGINT }

// zombie: ended, but not reaped. Where a container's first process reaps
// nothing, a killed server stays one for good.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	return strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X")
}

// servesFolder: a postmaster works inside its data folder.
func servesFolder(pid int, data string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return false // another user's process: not one of ours
	}
	if real, err := filepath.EvalSymlinks(data); err == nil {
		data = real
	}
	return cwd == data
}
