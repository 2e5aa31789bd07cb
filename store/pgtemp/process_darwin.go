package pgtemp

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

const maxSocketPath = 103

// dieWithParent: macOS has no such signal; the next Start stops the orphan.
func dieWithParent(*syscall.SysProcAttr) {}

func zombie(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// servesFolder: our servers are started with -D and the data folder.
func servesFolder(pid int, data string) bool {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "postgres") && strings.Contains(string(out), "-D "+data)
}
