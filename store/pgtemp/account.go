//go:build linux || darwin

package pgtemp

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that Postgres runs as.
type account struct {
	uid, gid int
	name     string
	foreign  bool // not the user of this process: files are handed over, processes switch
}

// serverAccount is this user, or, as root, which Postgres refuses, the owner of
// data that is already in dir, else postgres, else nobody.
func serverAccount(dir string) (account, error) {
	if uid := os.Geteuid(); uid != 0 {
		return account{uid: uid, gid: os.Getegid(), name: strconv.Itoa(uid)}, nil
	}
	versions, _ := filepath.Glob(filepath.Join(dir, "pg*", "PG_VERSION"))
	for _, f := range versions {
		if info, err := os.Stat(f); err == nil {
			if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 {
				return account{uid: int(st.Uid), gid: int(st.Gid), name: strconv.Itoa(int(st.Uid)), foreign: true}, nil
			}
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil && uid > 0 {
			return account{uid: uid, gid: gid, name: name, foreign: true}, nil
		}
	}
	return account{}, fmt.Errorf("root cannot run Postgres, and this machine has neither user postgres nor nobody: run as another user or set DATABASE_URL")
}

// reaches says which folder on the way keeps the account from entering dir.
func (a account) reaches(dir string) error {
	if !a.foreign {
		return nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			if os.IsNotExist(err) && d != "/" {
				continue // will be made with a mode of ours
			}
			return err
		}
		st, mode := info.Sys().(*syscall.Stat_t), info.Mode().Perm()
		bit := fs.FileMode(0o001)
		switch {
		case int(st.Uid) == a.uid:
			bit = 0o100
		case int(st.Gid) == a.gid:
			bit = 0o010
		}
		if mode&bit == 0 {
			return fmt.Errorf("user %s, which runs Postgres because root must not, cannot enter %s (mode %04o)", a.name, d, mode)
		}
		if d == "/" {
			return nil
		}
	}
}

// credential makes a process run as the account.
func (a account) credential() *syscall.Credential {
	if !a.foreign {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}
