package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"

	"github.com/tekrar/tekrar/store"
)

func claimsShow(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON object")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.withSchema(ctx, c, func(db *store.DB) error {
			e, err := db.Effect(ctx, args[0])
			if err != nil {
				return claimError(args[0], err)
			}
			late, err := db.LateReceipts(ctx, e.Key)
			if err != nil {
				return err
			}
			if *asJSON {
				out := newClaimJSON(e, c)
				out.Past = c.redact.JSON(e.Past)
				for _, l := range late {
					out.Late = append(out.Late, lateJSON{l.At.UTC(), idOrNone(l.JobID), l.Attempt, l.Duplicate, c.redact.JSON(l.Receipt)})
				}
				return writeJSON(p.stdout, out)
			}
			return p.showClaim(e, late, c)
		})
	}
}

func (p *program) showClaim(e store.Effect, late []store.LateReceipt, c config) error {
	var past []json.RawMessage
	_ = json.Unmarshal(e.Past, &past) // what another version wrote in another form is left out
	life := ""
	if e.KeyLife > 0 {
		life = e.KeyLife.String()
	}
	err := p.sheet([2]string{"claim", e.Key}, [2]string{"state", claimState(e)}, [2]string{"token", fmt.Sprint(e.Token)},
		[2]string{"holder", claimHolder(e)}, [2]string{"claimed", stamp(e.ClaimedAt)}, [2]string{"begun", stampOf(e.BegunAt)},
		[2]string{"first possible effect", stampOf(e.EffectAt)}, [2]string{"in doubt since", stampOf(e.DoubtAt)},
		[2]string{"settled", stampOf(e.SettledAt)}, [2]string{"key lives", life}, [2]string{"generation", fmt.Sprint(e.Generation)},
		[2]string{"reclaims", fmt.Sprint(e.Reclaims)}, [2]string{"duplicates", fmt.Sprint(e.Duplicates)},
		[2]string{"reason", e.Reason}, [2]string{"receipt", compact(c.redact.JSON(e.Receipt))})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "\nEARLIER HOLDERS, oldest first (%d)\n", len(past))
	for _, h := range past {
		fmt.Fprintf(p.stdout, "  %s\n", plain(compact(c.redact.JSON(h))))
	}
	fmt.Fprintf(p.stdout, "\nLATE RECEIPTS, oldest first (%d)\n", len(late))
	var rows [][]string
	for _, l := range late {
		duplicate := "no"
		if l.Duplicate {
			duplicate = "yes"
		}
		rows = append(rows, []string{stamp(l.At), idOrNone(l.JobID), fmt.Sprint(l.Attempt), duplicate, compact(c.redact.JSON(l.Receipt))})
	}
	return p.table("AT JOB ATTEMPT DUPLICATE RECEIPT", rows)
}

// compact is JSON on one line.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// claimError says in a sentence why nothing was found or changed.
func claimError(key string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("claim %q: not found; tekrar claims list names the unsettled ones", key)
	case errors.Is(err, store.ErrStateChanged):
		return fmt.Errorf("claim %q: nothing was changed: it moved meanwhile, its holder lives, or its state does not allow this", key)
	}
	return err
}
