//go:build linux || darwin

package pgtemp

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

func TestRootHandsTheServerToAnotherUser_LIF12(t *testing.T) {
	asRoot(t)
	t.Parallel()
	dir := folder(t)
	s := start(t, Config{Dir: dir})
	info, err := os.Stat(dataDir(dir, s.bin.major))
	if err != nil {
		t.Fatal(err)
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid == 0 || uid != s.as.uid {
		t.Fatalf("the data belongs to %d", uid)
	}
	if same, err := serverAccount(dir); err != nil || same.uid != s.as.uid {
		t.Fatalf("the next start would use another user: %+v, %v", same, err)
	}
}

func TestRootIsToldWhichFolderIsClosed(t *testing.T) {
	asRoot(t)
	t.Parallel()
	closed := filepath.Join(folder(t), "closed")
	if err := os.MkdirAll(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Config{Dir: filepath.Join(closed, "x")})
	for _, want := range []string{"cannot enter " + closed, "0700", "/var/lib/tekrar"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestAFolderThatIsNotWritableIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	t.Parallel()
	dir := folder(t)
	if err := os.MkdirAll(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir+" is not writable") {
		t.Fatalf("err = %v", err)
	}
}

func TestAPlantedSocketFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	me := account{uid: os.Geteuid(), gid: os.Getegid(), name: "me"}
	if err := os.Symlink("/tmp", filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	if _, err := socketDir(dir, me); err == nil || !strings.Contains(err.Error(), "mode 0700: remove it") {
		t.Fatalf("a link: %v", err)
	}
	os.Remove(filepath.Join(dir, "run"))
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := socketDir(dir, me); err == nil {
		t.Fatal("a folder open to all was taken")
	}
}
