package web

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

func claimShow(r *request) error {
	key, ok := claimKey(r.inner())
	if !ok {
		return store.ErrNotFound
	}
	return r.claimPage(key)
}

// claimKey reads the key from an escaped address, decoded here, once, as queueName does.
func claimKey(inner string) (string, bool) {
	segment := strings.TrimSuffix(inner[min(len("/claims/"), len(inner)):], "/")
	key, err := url.PathUnescape(segment)
	bad := segment == "" || strings.Contains(segment, "/") || err != nil || !utf8.ValidString(key) || strings.ContainsRune(key, 0)
	return key, !bad
}

// generationMark is what a deliberate second sending adds to the key of its claim.
var generationMark = regexp.MustCompile(`~g[0-9]+$`)

func (r *request) claimPage(key string) error {
	ctx, cancel := r.timed()
	defer cancel()
	p, err := r.d.claim(ctx, key)
	if errors.Is(err, store.ErrNotFound) && generationMark.MatchString(key) {
		return r.seeOther(r.d.links.Claim(generationMark.ReplaceAllString(key, "")))
	}
	if err != nil {
		return cut(ctx, err)
	}
	l := r.layout(r.locale().Say("Claim %s", key), "claims")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(fiber.StatusOK, views.ClaimPage(l, p))
}

const (
	claimCalls     = 50 // shown on a claim's page
	maxGenerations = 20 // whose calls are looked for
)

// claim reads a claim and its story in four queries. Of the story what cannot be
// read is left out, and said.
func (d *Dashboard) claim(ctx context.Context, key string) (views.ClaimProps, error) {
	e, err := d.effect(ctx, key)
	if err != nil {
		return views.ClaimProps{}, err
	}
	d.clock.saw(e.Now)
	late, ok1 := load(ctx, d, "late receipts", func(ctx context.Context) ([]store.LateReceipt, error) { return d.lateReceipts(ctx, key) })
	keys := []string{key}
	for g := e.Generation; g > max(1, e.Generation-maxGenerations); g-- {
		keys = append(keys, key+"~g"+strconv.Itoa(g))
	}
	calls, ok2 := load(ctx, d, "provider calls", func(ctx context.Context) ([]store.ProviderCallRow, error) {
		return d.db.CallsOfKeys(ctx, keys, claimCalls)
	})
	past := pastOf(e)
	ids := map[int64]bool{e.Holder.JobID: true}
	for _, h := range past {
		ids[h.Job] = true
	}
	for _, r := range late {
		ids[r.JobID] = true
	}
	for _, c := range calls {
		ids[c.JobID] = true
	}
	var jobs []int64
	for id := range ids {
		if id != 0 {
			jobs = append(jobs, id)
		}
	}
	spans, ok3 := load(ctx, d, "attempts", func(ctx context.Context) ([]store.AttemptSpan, error) { return d.db.AttemptSpans(ctx, jobs) })
	return views.ClaimProps{
		ClaimRowProps: presentClaim(e), Fingerprint: e.Fingerprint, Past: presentPast(past), Late: presentLate(late),
		Calls: presentCalls(calls), Contenders: contendersOf(e, past, late, calls, spans), PartFailed: !ok1 || !ok2 || !ok3,
	}, nil
}

func (d *Dashboard) claimLook(l views.Layout, key string) look {
	return func(ctx context.Context) (picture, error) {
		p, err := d.claim(ctx, key)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		if p.PartFailed {
			return picture{}, cut(ctx, errPart)
		}
		part := func(name string, draw func(views.Layout, views.ClaimProps) templ.Component) sketch {
			return sketch{"claim-" + name, 0, func(l views.Layout, v int64) templ.Component {
				p := p
				p.Version = v
				return draw(l, p)
			}}
		}
		return d.picture(l, part("header", views.ClaimHeader), part("actions", views.ClaimActions), part("axis", views.ClaimAxis),
			part("story", views.ClaimStory), part("facts", views.ClaimFacts), part("calls", views.ClaimCalls)), nil
	}
}

// claimsScene finds the look of an address of the claims and calls pages; nil when it
// is none of theirs.
func (d *Dashboard) claimsScene(inner string, l views.Layout, get params, ids []int64) (look, error) {
	key, ok := "", true
	switch path := strings.ToLower(inner); {
	case path == "/calls":
		f, err := readCallsFilter(get)
		return d.callsLook(l, f, ids), err
	case path == "/claims":
		var err error
		if key, err = get("key"); err != nil || key == "" {
			f, err2 := readClaimsFilter(get)
			return d.claimsLook(l, f, ids), errors.Join(err, err2)
		}
	case strings.HasPrefix(path, "/claims/"):
		if key, ok = claimKey(inner); !ok {
			return nil, store.ErrNotFound
		}
	default:
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), pageWait)
	defer cancel()
	if _, err := d.db.Effect(ctx, key); errors.Is(err, store.ErrNotFound) {
		return nil, store.ErrNotFound
	}
	return d.claimLook(l, key), nil
}
