package jobs

import (
	"testing"
	"time"
)

// A quiet queue may notify in a burst, a busy one at the mean rate only.
func TestNotificationsAreEarned(t *testing.T) {
	t.Parallel()
	var q queueWaking
	now := time.Now()
	for i := range notifyBurst {
		if wait := q.spend(now); wait != 0 {
			t.Fatalf("notification %d of a burst waits %v", i, wait)
		}
	}
	if wait := q.spend(now); wait <= 0 || wait > notifyEvery {
		t.Errorf("after the burst it waits %v", wait)
	}
	spent := 0
	for at := now; at.Before(now.Add(time.Second)); at = at.Add(100 * time.Microsecond) {
		if q.spend(at) == 0 {
			spent++
		}
	}
	if want := int(time.Second / notifyEvery); spent < want-1 || spent > want {
		t.Errorf("%d notifications in a second of load, want about %d", spent, want)
	}
	for i := range 50 { // one each notifyEvery, a little early or late
		at := now.Add(2*time.Second + time.Duration(i)*notifyEvery + time.Duration(i%3-1)*3*time.Millisecond)
		if wait := q.spend(at); wait != 0 {
			t.Fatalf("job %d of a steady trickle waits %v", i, wait)
		}
	}
}
