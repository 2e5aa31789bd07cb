package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

var shells = map[string]func(io.Writer, []completed){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

// completion writes a script made from the table of commands, so that it knows what
// this very program knows.
func completion(_ context.Context, p *program, _ config, args []string) error {
	write, ok := shells[args[0]]
	if !ok {
		return usagef("completion: SHELL is %q, must be one of bash, zsh, fish", args[0])
	}
	write(p.stdout, completions())
	return nil
}

// completed is what may follow some words.
type completed struct {
	after string // "", "jobs", "jobs list"
	words []completedWord
}

type completedWord struct{ word, help string }

// completions lists first words, second words of each first, and flags of each command.
func completions() (all []completed) {
	at := map[string]int{}
	add := func(after string, w completedWord) {
		i, known := at[after]
		if !known {
			i = len(all)
			at[after] = i
			all = append(all, completed{after: after})
		}
		for _, have := range all[i].words {
			if have.word == w.word {
				return
			}
		}
		all[i].words = append(all[i].words, w)
	}
	for _, c := range commands() {
		first, second, two := strings.Cut(c.name, " ")
		if two {
			add("", completedWord{first, "commands about " + first})
			add(first, completedWord{second, c.summary})
		} else {
			add("", completedWord{first, c.summary})
		}
	}
	add("", completedWord{"help", "list the commands, or the flags of one"})
	for _, shell := range []string{"bash", "zsh", "fish"} {
		add("completion", completedWord{shell, ""})
	}
	for _, c := range commands() {
		fs, _ := c.flagSet()
		c.bind(fs, &config{}, nil)
		fs.VisitAll(func(f *flag.Flag) { add(c.name, completedWord{"--" + f.Name, f.Usage}) })
	}
	return all
}

func bashCompletion(w io.Writer, all []completed) {
	fmt.Fprint(w, "# bash completion of tekrar\n_tekrar() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} at= words=\n"+
		"\tlocal i; for ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in -*) ;; *) case \"$at ${COMP_WORDS[i]}\" in\n")
	for _, c := range all {
		if c.after != "" {
			fmt.Fprintf(w, "\t\t\t%s) at=%s ;;\n", quoted(" "+c.after), quoted(" "+c.after))
		}
	}
	fmt.Fprint(w, "\t\tesac ;; esac\n\tdone\n\tcase $at in\n")
	for _, c := range all {
		at := ""
		if c.after != "" {
			at = " " + c.after
		}
		var words []string
		for _, one := range c.words {
			words = append(words, one.word)
		}
		fmt.Fprintf(w, "\t%s) words=%s ;;\n", quoted(at), quoted(strings.Join(words, " ")))
	}
	fmt.Fprint(w, "\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _tekrar tekrar\n")
}

func zshCompletion(w io.Writer, all []completed) {
	fmt.Fprint(w, "#compdef tekrar\n_tekrar() {\n\tlocal at= word\n\tfor word in ${words[2,CURRENT-1]}; do\n"+
		"\t\tcase $word in -*) continue ;; esac\n\t\tcase \"$at $word\" in\n")
	for _, c := range all {
		if c.after != "" {
			fmt.Fprintf(w, "\t\t\t%s) at=%s ;;\n", quoted(" "+c.after), quoted(" "+c.after))
		}
	}
	fmt.Fprint(w, "\t\tesac\n\tdone\n\tlocal -a next\n\tcase $at in\n")
	for _, c := range all {
		at := ""
		if c.after != "" {
			at = " " + c.after
		}
		fmt.Fprintf(w, "\t%s) next=(", quoted(at))
		for _, one := range c.words {
			fmt.Fprintf(w, " %s", quoted(strings.ReplaceAll(one.word, ":", `\:`)+":"+one.help))
		}
		fmt.Fprint(w, ") ;;\n")
	}
	fmt.Fprint(w, "\tesac\n\t_describe -t tekrar tekrar next || _files\n}\ncompdef _tekrar tekrar\n")
}

func fishCompletion(w io.Writer, all []completed) {
	fmt.Fprint(w, "# fish completion of tekrar\nfunction __tekrar_at\n\tset -l at\n\tfor word in (commandline -opc)[2..]\n"+
		"\t\tif not string match -q -- '-*' $word\n\t\t\tset -a at $word\n\t\tend\n\tend\n\techo \"$at\"\nend\n"+
		"function __tekrar_after\n\ttest (__tekrar_at) = \"$argv\"\nend\n"+
		"function __tekrar_in\n\tstring match -q -- \"$argv*\" (__tekrar_at)\nend\n")
	for _, c := range all {
		for _, one := range c.words {
			where, word := "__tekrar_after ", "-f -a "+quoted(one.word)
			if name, isFlag := strings.CutPrefix(one.word, "--"); isFlag {
				where, word = "__tekrar_in ", "-l "+quoted(name) // also behind the arguments
			}
			fmt.Fprintf(w, "complete -c tekrar -n %s %s -d %s\n", quoted(strings.TrimSpace(where+c.after)), word, quoted(one.help))
		}
	}
}

// quoted is text as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
