package sidecheck

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
)

// attempts makes a watch of which each attempt fails at once, after as many events as it has. It
// returns the times between attempts and between the last one and the end, which is an error.
func attempts(t *testing.T, patience, retryAfter time.Duration, events ...int) []time.Duration {
	t.Helper()
	var pauses []time.Duration
	lost := &UnavailableError{Err: &Error{Status: codes.Unavailable, RetryAfter: retryAfter}}
	synctest.Test(t, func(t *testing.T) {
		client := &connection{closed: make(chan struct{}), server: &peer{}}
		wait := func(pause time.Duration) error { return client.wait(t.Context(), pause) }
		count, last := 0, time.Now()
		attempt := func(*Checkpoint) iter.Seq2[WatchEvent, error] {
			return func(yield func(WatchEvent, error) bool) {
				if count > 0 {
					pauses = append(pauses, time.Since(last))
				}
				count, last = count+1, time.Now()
				if count <= len(events) {
					for range events[count-1] {
						yield(Checkpoint{}, nil)
					}
				}
				yield(nil, lost)
			}
		}
		var ended error
		for _, err := range watchAgain(attempt, wait, nil, patience) {
			ended = err
		}
		if !errors.Is(ended, lost) {
			t.Errorf("got %v", ended)
		}
	})
	return pauses
}

// The clock is that of synctest.
func TestPausesBetweenAttempts(t *testing.T) {
	const tenth = 100 * time.Millisecond
	for name, test := range map[string]struct {
		patience, retryAfter time.Duration
		events               []int
		longest              []time.Duration
	}{
		"they double": {
			time.Minute, 0, nil,
			[]time.Duration{tenth, 2 * tenth, 4 * tenth, 8 * tenth, 16 * tenth, 32 * tenth, 5 * time.Second, 5 * time.Second},
		},
		"events reset them": {
			// All pauses together are longer than the patience.
			time.Second, 0, slices.Repeat([]int{2, 0, 0}, 10),
			slices.Repeat([]time.Duration{tenth, 2 * tenth, 4 * tenth}, 10),
		},
		"none within the patience": {tenth/2 - 1, 0, nil, nil},
		"the server asks for more": {
			15 * time.Second, 7 * time.Second, nil,
			[]time.Duration{7 * time.Second, 7 * time.Second},
		},
		"the server asks for more than the patience": {time.Minute, time.Hour, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			pauses := attempts(t, test.patience, test.retryAfter, test.events...)
			if len(pauses) < len(test.longest) || test.longest == nil && pauses != nil {
				t.Fatalf("got %v", pauses)
			}
			for index, longest := range test.longest {
				shortest := max(longest/2, test.retryAfter)
				if pause := pauses[index]; pause < shortest || pause > longest {
					t.Errorf("pause %d of %v is not from %v to %v", index, pauses, shortest, longest)
				}
			}
		})
	}
}

func TestPatienceBeginsAfterTheLastEvent(t *testing.T) {
	var total time.Duration
	for _, pause := range attempts(t, time.Minute, 0) {
		total += pause
	}
	// Another pause would be too long.
	if total <= time.Minute-longestPause || total > time.Minute {
		t.Errorf("the watch ended after %v", total)
	}
}

func TestPauseEndsWithTheContextOrTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &connection{closed: make(chan struct{}), server: &peer{}}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- client.wait(ctx, time.Hour) }()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		go func() { failed <- client.wait(t.Context(), time.Hour) }()
		synctest.Wait()
		close(client.closed)
		var failure *Error
		if err := <-failed; !errors.As(err, &failure) || failure.Reason != "CLIENT_CLOSED" {
			t.Errorf("got %v, want CLIENT_CLOSED", err)
		}
	})
}
