package main

import (
	"encoding/json"
	"runtime/debug"
	"testing"
)

func TestVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	vcs := func(revision, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}}
	}
	for _, c := range []struct {
		info *debug.BuildInfo
		told string
		want build
		from string
	}{
		{&debug.BuildInfo{}, "", build{"(devel)", "", false}, "commit unknown"},
		{&debug.BuildInfo{}, "abc", build{"(devel)", "abc", false}, "commit abc"},
		{vcs("def", "false"), "", build{"v1.2.3", "def", false}, "commit def"},
		{vcs("def", "true"), "", build{"v1.2.3", "def", true}, "commit def with changes"},
		{vcs("def", "false"), "abc", build{"v1.2.3", "abc", false}, "commit abc"},
	} {
		got := buildOf(c.info, c.told)
		if got != c.want || got.from() != c.from {
			t.Errorf("got %+v %q, want %+v %q", got, got.from(), c.want, c.from)
		}
	}
	var told map[string]any
	if err := json.Unmarshal([]byte(tekrar(t, nil, "version", "--json").wantDone(t)), &told); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "commit", "changed", "go", "platform"} {
		if _, ok := told[key]; !ok {
			t.Errorf("version --json lacks %q: %v", key, told)
		}
	}
}
