package store

import (
	"strings"
	"testing"
)

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for num, ok := range map[string]bool{"140000": true, "150018": true, "180003": true, "130021": false, "90624": false, "?": false} {
		err := checkVersion(num, "13.21 (Debian)")
		if (err == nil) != ok {
			t.Errorf("%s: %v", num, err)
		}
		if err != nil && !strings.Contains(err.Error(), "Postgres 14 or newer is needed") {
			t.Errorf("%s: %v does not say what is needed", num, err)
		}
	}
}
