package sidecheck

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// DefaultPatience is how long a watch tries to reach a server again.
const DefaultPatience = 60 * time.Second

// Pauses between two attempts to connect: they double, up to the longest.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// lasting are the statuses that another attempt would end with, too.
var lasting = map[codes.Code]bool{
	codes.PermissionDenied: true,
	codes.Unauthenticated:  true,
	codes.Unimplemented:    true,
}

// WatchEvent is what a watch yields: a [ToolsChange] or a [Checkpoint].
type WatchEvent interface {
	// Checkpoint returns the position after the event.
	Checkpoint() Checkpoint
}

// Checkpoint is a revision up to which all changes were told. A watch can begin after it.
type Checkpoint struct {
	// Revision of the registry.
	Revision uint64
	// ID of the change that led to the revision; empty if it is not known.
	ID string
}

// Checkpoint returns the checkpoint itself.
func (c Checkpoint) Checkpoint() Checkpoint { return c }

// ToolsChange is all that one revision changed, in the namespace of one server.
type ToolsChange struct {
	// Revision of the registry since which the change holds.
	Revision uint64
	// ID of the change.
	ID string
	// Server is the namespace of the server.
	Server string
	// Registered are the tools that were registered, or replaced another of their name, by name.
	Registered []*Tool
	// Deleted are the names that are registered no longer, in order.
	Deleted []string
}

// Checkpoint returns the position after the change.
func (c ToolsChange) Checkpoint() Checkpoint { return Checkpoint{c.Revision, c.ID} }

// WatchOptions are the options of a watch. The zero value and a nil pointer are the defaults.
type WatchOptions struct {
	// Servers whose changes are told. Empty means all that the caller may use.
	Servers []string
	// After is the position of an earlier event: the changes since are told. Nil means those from
	// now on, after a first [Checkpoint].
	After *Checkpoint
	// Patience is how long a lost server is tried again. 0 means [DefaultPatience].
	Patience time.Duration
}

// Watch yields the changes of registered tools as they are made.
//
// A [ToolsChange] has all that one revision changed, in the order of revisions, each at least
// once. A [Checkpoint] says that there are no others up to a revision: first of all without
// WatchOptions.After, whenever all were told, and every few seconds.
//
// A lost connection is made again, and the watch goes on where it was. An error ends the iteration:
// an [*UnavailableError] if no server was reached for WatchOptions.Patience, and at once any other,
// such as one with the reason COMPACTED if changes since WatchOptions.After are not kept, or the
// registry is another one since: mirror it again. So do leaving the iteration, cancelling ctx, and
// [Client.Close]. Without a deadline of ctx there is none.
//
// To mirror the registry: take the first checkpoint, list the tools, and apply what follows.
func (c *Client) Watch(ctx context.Context, options *WatchOptions) iter.Seq2[WatchEvent, error] {
	if options == nil {
		options = &WatchOptions{}
	}
	patience := options.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	return func(yield func(WatchEvent, error) bool) {
		if patience < 0 {
			yield(nil, fmt.Errorf("%w: the patience must be positive, not %v", ErrInvalidArgument, patience))
			return
		}
		attempt := func(after *Checkpoint) iter.Seq2[WatchEvent, error] {
			request := &pb.WatchToolsRequest{Servers: options.Servers}
			if after != nil {
				request.AfterRevision, request.AfterId = &after.Revision, after.ID
			}
			return c.connection.watchOnce(ctx, request)
		}
		wait := func(pause time.Duration) error { return c.connection.wait(ctx, pause) }
		watchAgain(attempt, wait, options.After, patience)(yield)
	}
}

// watchAgain yields the events of attempts, each after the last event of those before. An attempt
// ends with an error. An error of wait, between two attempts, ends the watch.
func watchAgain(
	attempt func(after *Checkpoint) iter.Seq2[WatchEvent, error],
	wait func(time.Duration) error,
	after *Checkpoint,
	patience time.Duration,
) iter.Seq2[WatchEvent, error] {
	return func(yield func(WatchEvent, error) bool) {
		heard, pause, after := time.Now(), firstPause, after
		for {
			var ended error
			for event, err := range attempt(after) {
				if err != nil {
					ended = err
					break
				}
				after = new(event.Checkpoint())
				if !yield(event, nil) {
					return
				}
				heard, pause = time.Now(), firstPause
			}
			var lost *UnavailableError
			if !errors.As(ended, &lost) || lasting[lost.Err.Status] {
				yield(nil, ended)
				return
			}
			// Clients that lost the same server must not return in step.
			delay := max(lost.Err.RetryAfter, pause/2+rand.N(pause/2))
			if time.Since(heard)+delay > patience {
				yield(nil, ended)
				return
			}
			if err := wait(delay); err != nil {
				yield(nil, err)
				return
			}
			pause = min(2*pause, longestPause)
		}
	}
}

// wait waits for pause. It fails if ctx or the client ends before.
func (c *connection) wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return c.contextError(ctx)
	case <-c.closed:
		return clientClosed()
	}
}
