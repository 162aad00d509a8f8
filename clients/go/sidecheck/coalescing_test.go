package sidecheck_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// coalescing is a client that coalesces, and its server.
type coalescing struct {
	client *sidecheck.Client
	// entered has an element for each payload "hold" that came, and release ends its call.
	entered, release chan struct{}
	// shared is the number of payloads that came with others in a batch.
	shared atomic.Int32
}

// newCoalescing starts a server that finds everything valid; the payload "wait" is answered at
// the end of its call.
func newCoalescing(t *testing.T) *coalescing {
	setting := &coalescing{entered: make(chan struct{}, 1), release: make(chan struct{})}
	answer := func(ctx context.Context, subject *pb.Subject) error {
		switch string(subject.GetArguments()) {
		case `"hold"`:
			setting.entered <- struct{}{}
			select {
			case <-setting.release:
			case <-ctx.Done():
			}
		case `"wait"`:
			<-ctx.Done()
		}
		return ctx.Err()
	}
	address := (&sidechecktest.StandIn{
		OnValidate: func(ctx context.Context, request *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			return sidechecktest.Valid(), answer(ctx, request.GetSubject())
		},
		OnBatch: func(ctx context.Context, request *pb.ValidateBatchRequest) (*pb.ValidateBatchResponse, error) {
			setting.shared.Add(int32(len(request.GetItems())))
			for _, item := range request.GetItems() {
				if err := answer(ctx, item.GetSubject()); err != nil {
					return nil, err
				}
			}
			return sidechecktest.AllValid(request), nil
		},
	}).Serve(t)
	setting.client = sidechecktest.Open(t, address, &sidecheck.ClientOptions{
		Timeout: sidechecktest.Patience, Coalesce: true,
	})
	return setting
}

// start validates payload in another goroutine, and returns its error.
func (c *coalescing) start(ctx context.Context, payload any) <-chan error {
	failed := make(chan error, 1)
	go func() {
		_, err := c.client.Validate(ctx, schema, payload, nil)
		failed <- err
	}()
	return failed
}

func TestConcurrentCallsShareBatches(t *testing.T) {
	setting := newCoalescing(t)
	held := setting.start(t.Context(), "hold")
	<-setting.entered
	// These wait for the first, at most 2 ms. On a busy machine they may come one by one.
	for started := time.Now(); setting.shared.Load() == 0; {
		var calls []<-chan error
		for range 10 {
			calls = append(calls, setting.start(t.Context(), nil))
		}
		for _, call := range calls {
			if err := <-call; err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(started) > sidechecktest.Patience {
			t.Fatal("no calls shared a batch")
		}
	}
	close(setting.release)
	if err := <-held; err != nil {
		t.Error(err)
	}
}

func TestCallsWithMetadataGoAlone(t *testing.T) {
	setting := newCoalescing(t)
	held := setting.start(t.Context(), "hold")
	<-setting.entered
	var calls []<-chan error
	for index := range 20 {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "tenant", fmt.Sprint(index))
		calls = append(calls, setting.start(ctx, nil))
	}
	for _, call := range calls {
		if err := <-call; err != nil {
			t.Error(err)
		}
	}
	close(setting.release)
	if err := <-held; err != nil || setting.shared.Load() != 0 {
		t.Errorf("got %v, and %d calls in batches", err, setting.shared.Load())
	}
}

func TestCancelledCallLeavesTheOthers(t *testing.T) {
	setting := newCoalescing(t)
	held := setting.start(t.Context(), "hold")
	<-setting.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := setting.start(ctx, "wait")
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if err := <-setting.start(t.Context(), nil); err != nil {
		t.Error(err)
	}
	close(setting.release)
	if err := <-held; err != nil {
		t.Error(err)
	}
}

func TestClosingFailsCallsThatWait(t *testing.T) {
	setting := newCoalescing(t)
	held := setting.start(t.Context(), "hold")
	<-setting.entered
	waiting := setting.start(t.Context(), "wait")
	if err := setting.client.Close(); err != nil {
		t.Fatal(err)
	}
	for _, call := range []<-chan error{held, waiting} {
		var failure *sidecheck.Error
		if err := <-call; !errors.As(err, &failure) || failure.Reason != "CLIENT_CLOSED" {
			t.Errorf("got %v, want CLIENT_CLOSED", err)
		}
	}
}

// BenchmarkLoneCaller compares a caller that shares no request with and without coalescing.
func BenchmarkLoneCaller(b *testing.B) {
	address := (&sidechecktest.StandIn{
		OnValidate: func(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			return sidechecktest.Valid(), nil
		},
	}).Serve(b)
	target := sidecheck.RegisteredTool{Server: "bench", Name: "git_log"}
	payload := []byte(`{"repo_path":"/srv/repository","max_count":10}`)
	for _, coalesce := range []bool{false, true} {
		b.Run(fmt.Sprintf("coalesce=%t", coalesce), func(b *testing.B) {
			client := sidechecktest.Open(b, address, &sidecheck.ClientOptions{
				Timeout: sidechecktest.Patience, Coalesce: coalesce,
			})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Validate(b.Context(), target, payload, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
