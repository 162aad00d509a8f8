package sidecheck_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

type serveWatch func(*pb.WatchToolsRequest, pb.RegistryService_WatchToolsServer) error

// stayWith returns watches that send count checkpoints, and stay open.
func stayWith(count uint64) serveWatch {
	return func(_ *pb.WatchToolsRequest, stream pb.RegistryService_WatchToolsServer) error {
		for revision := range count {
			if err := stream.Send(checkpointResponse(revision, "")); err != nil {
				return err
			}
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	}
}

func TestLeavingAWatchReleasesItsGoroutines(t *testing.T) {
	// More than gRPC receives ahead of the reader.
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{OnWatch: stayWith(100_000)}).Serve(t), nil)
	if _, err := client.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		if _, err := takeEvents(client.Watch(t.Context(), nil), 2); err != nil {
			t.Error(err)
		}
		cancelInside(t, client)
		next, stop := iter.Pull2(client.Watch(t.Context(), nil))
		if event, err, _ := next(); err != nil || event != (sidecheck.Checkpoint{}) {
			t.Errorf("got %v, %v", event, err)
		}
		stop()
	}
	expectGoroutines(t, before)
}

// cancelInside makes a watch that is cancelled at its first event, and not left.
func cancelInside(t *testing.T, client *sidecheck.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range client.Watch(ctx, nil) {
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestWatchEndsWithItsContextOrClient(t *testing.T) {
	overloaded, err := status.New(codes.Unavailable, "later").
		WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for state, watch := range map[string]serveWatch{
		"waiting for an event": stayWith(0),
		"between attempts": func(*pb.WatchToolsRequest, pb.RegistryService_WatchToolsServer) error {
			return overloaded.Err()
		},
	} {
		entered := make(chan struct{}, 1)
		address := (&sidechecktest.StandIn{
			OnWatch: func(request *pb.WatchToolsRequest, stream pb.RegistryService_WatchToolsServer) error {
				entered <- struct{}{}
				return watch(request, stream)
			},
		}).Serve(t)
		for ending, test := range map[string]struct {
			end    func(context.CancelFunc, *sidecheck.Client) error
			expect func(error) bool
		}{
			"context": {
				func(cancel context.CancelFunc, _ *sidecheck.Client) error { cancel(); return nil },
				func(err error) bool { return errors.Is(err, context.Canceled) },
			},
			"client": {
				func(_ context.CancelFunc, client *sidecheck.Client) error { return client.Close() },
				func(err error) bool {
					var failure *sidecheck.Error
					return errors.As(err, &failure) && failure.Reason == "CLIENT_CLOSED"
				},
			},
		} {
			t.Run(ending+" "+state, func(t *testing.T) {
				client := sidechecktest.Open(t, address, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				failed := make(chan error, 1)
				go func() {
					_, err := takeEvents(client.Watch(ctx, nil), 1)
					failed <- err
				}()
				<-entered
				if err := test.end(cancel, client); err != nil {
					t.Error(err)
				}
				if err := <-failed; !test.expect(err) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func TestWatchHasTheDeadlineOfItsContextOnly(t *testing.T) {
	address := (&sidechecktest.StandIn{OnWatch: stayWith(0)}).Serve(t)
	client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{Timeout: time.Nanosecond})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := takeEvents(client.Watch(ctx, nil), 1)
	var unavailable *sidecheck.UnavailableError
	if !errors.As(err, &unavailable) || unavailable.Err.Reason != "DEADLINE_EXCEEDED" || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}
