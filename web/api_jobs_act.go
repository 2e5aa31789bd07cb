package web

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

type apiAction struct {
	Expected    string `json:"expected"`
	FreshBudget bool   `json:"fresh_budget"`
}

func apiJobRequeue(r *request) error {
	var a apiAction
	if err := r.read(&a); err != nil {
		return err
	}
	do := "once"
	if a.FreshBudget {
		do = "fresh"
	}
	return r.apiMove(do, a.Expected)
}

// apiJobAct does what needs no more than the expected state.
func apiJobAct(do string) func(*request) error {
	return func(r *request) error {
		var a struct {
			Expected string `json:"expected"`
		}
		if err := r.read(&a); err != nil {
			return err
		}
		return r.apiMove(do, a.Expected)
	}
}

// apiMove moves the job of the address if it is still in the expected state.
func (r *request) apiMove(do, expected string) error {
	id, ok := jobID(r.Params("id"))
	if !ok {
		return store.ErrNotFound
	}
	if expected == "" {
		return badInput("Field expected: must be the state in which you saw the job.")
	}
	state, err := store.ParseState(expected)
	if err != nil {
		return badInput("Field expected: %s.", err)
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	moved, err := r.d.move(ctx, r.who.Name, do, []jobs.Target{{ID: id, Expected: state}})
	if err != nil {
		return cut(ctx, err)
	}
	m := moved[0]
	if errors.Is(m.Err, store.ErrStateChanged) {
		return problem{refuse(fiber.StatusConflict, "%s", notFrom(do, expected, m.Now)), "state-changed", map[string]any{"state": m.Now.String()}}
	}
	if m.Err != nil {
		return m.Err
	}
	return r.answer(fiber.StatusOK, struct {
		ID      string `json:"id"`
		State   string `json:"state"`
		Attempt int    `json:"attempt"`
	}{strconv.FormatInt(id, 10), m.Now.String(), m.Attempt})
}

func notFrom(do, expected string, now store.State) string {
	if now.String() != expected {
		return fmt.Sprintf("The job is %s now, not %s. Nothing was changed.", now, expected)
	}
	verb := map[string]string{"once": "requeued", "fresh": "requeued", "delete": "deleted", "cancel": "cancelled", "restore": "restored"}[do]
	return fmt.Sprintf("A job that is %s cannot be %s. Nothing was changed.", now, verb)
}
