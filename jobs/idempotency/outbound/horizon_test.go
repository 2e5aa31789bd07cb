package outbound

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
)

func TestHorizon(t *testing.T) {
	t.Parallel()
	delays := jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second}}
	days := jobs.RetryPolicy{MaxRetries: 40, Backoff: jobs.Fixed(24 * time.Hour)}
	for _, tt := range []struct {
		name           string
		policy         jobs.RetryPolicy
		timeout, lease time.Duration
		profile        Profile
		retries        []int // that are named
		says           string
	}{
		{"default, a day", jobs.DefaultRetry(), 5 * time.Minute, 30 * time.Second, Article(), nil, ""},
		{"default, six hours", jobs.DefaultRetry(), 5 * time.Minute, 30 * time.Second, PayPalLike(), nil, ""},
		{"default, five minutes", jobs.DefaultRetry(), 5 * time.Minute, 30 * time.Second, ShortMail(), []int{1},
			"retry 1 may start 6m14s after the first request, beyond the key life of short-mail (5m0s less 30s); the last one ends after 5h45m8s"},
		{"short runs, five minutes", jobs.DefaultRetry(), 10 * time.Second, 30 * time.Second, ShortMail(), []int{3}, "retry 3 may start 5m56s"},
		{"seconds, five minutes", delays, 10 * time.Second, 30 * time.Second, ShortMail(), nil, ""},
		{"just within", delays, 84 * time.Second, 333 * time.Millisecond, ShortMail(), nil, ""}, // 3·84.333 s + 17 s = 269.999 s
		{"just outside", delays, 84 * time.Second, 334 * time.Millisecond, ShortMail(), []int{3}, "retry 3 may start 4m30.002s"},
		{"days", days, time.Minute, 30 * time.Second, Article(), []int{1, 30}, "retention of claims"},
		{"no keys", days, time.Minute, 30 * time.Second, NoKeys(), []int{30}, "retention of claims"},
		{"no timeout", delays, 0, 30 * time.Second, Article(), []int{1, 1}, "without a timeout"},
		{"no retries", jobs.NoRetry(), 0, 30 * time.Second, ShortMail(), nil, ""},
		{"endless", jobs.RetryPolicy{MaxRetries: jobs.MaxRetriesLimit, Backoff: jobs.Fixed(jobs.MaxWait)}, time.Minute, time.Minute,
			NoKeys(), []int{1}, "retention"},
	} {
		found := CheckHorizon(tt.policy, tt.timeout, tt.lease, tt.profile)
		var retries []int
		var text []string
		for _, w := range found {
			retries, text = append(retries, w.Retry), append(text, w.String())
		}
		if len(retries) != len(tt.retries) || !strings.Contains(strings.Join(text, "\n"), tt.says) {
			t.Errorf("%s: %v, want %v, %q", tt.name, text, tt.retries, tt.says)
			continue
		}
		for i := range retries {
			if retries[i] != tt.retries[i] {
				t.Errorf("%s: %v, want %v", tt.name, text, tt.retries)
			}
		}
		if _, err := RequireHorizon(idempotency.Warn, tt.policy, tt.timeout, tt.lease, tt.profile); err != nil {
			t.Errorf("%s: warn refuses: %v", tt.name, err)
		}
		_, err := RequireHorizon(idempotency.Strict, tt.policy, tt.timeout, tt.lease, tt.profile)
		if _, ok := errors.AsType[*jobs.InputError](err); ok != (len(found) > 0) {
			t.Errorf("%s: strict says %v", tt.name, err)
		}
	}
	t.Logf("default policy, timeout 5 min, lease 30 s: horizon %v", jobs.DefaultRetry().Horizon(5*time.Minute+30*time.Second))
}
