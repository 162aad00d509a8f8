package sidecheck_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// held is a server whose single validations wait for release, while batches are answered.
func held(t *testing.T) (client *sidecheck.Client, entered, release chan struct{}, batched *atomic.Int32) {
	entered, release, batched = make(chan struct{}, 1), make(chan struct{}), &atomic.Int32{}
	address := (&sidechecktest.StandIn{
		OnValidate: func(ctx context.Context, _ *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			entered <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return sidechecktest.Valid(), ctx.Err()
		},
		OnBatch: func(ctx context.Context, request *pb.ValidateBatchRequest) (*pb.ValidateBatchResponse, error) {
			for _, item := range request.GetItems() {
				batched.Add(1)
				if string(item.GetSubject().GetArguments()) == `"wait"` {
					<-ctx.Done()
					return nil, ctx.Err()
				}
			}
			return sidechecktest.AllValid(request), nil
		},
	}).Serve(t)
	client = sidechecktest.Open(t, address, &sidecheck.ClientOptions{Timeout: sidechecktest.Patience, Coalesce: true})
	return client, entered, release, batched
}

func TestConcurrentCallsShareBatches(t *testing.T) {
	client, entered, release, batched := held(t)
	failed := make(chan error, 11)
	validate := func() {
		_, err := client.Validate(t.Context(), schema, nil, nil)
		failed <- err
	}
	go validate()
	<-entered
	// The first is still outstanding, so that these wait and are sent beside it.
	for range 10 {
		go validate()
	}
	for range 10 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	close(release)
	if err := <-failed; err != nil || batched.Load() != 10 {
		t.Errorf("got %v, and %d items in batches", err, batched.Load())
	}
}

func TestCancelledCallLeavesTheOthers(t *testing.T) {
	client, entered, release, _ := held(t)
	first := make(chan error, 1)
	go func() {
		_, err := client.Validate(t.Context(), schema, nil, nil)
		first <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	go func() {
		_, err := client.Validate(ctx, schema, "wait", nil)
		cancelled <- err
	}()
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := client.Validate(t.Context(), schema, nil, nil); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestClosingFailsCallsThatWait(t *testing.T) {
	client, entered, _, _ := held(t)
	failed := make(chan error, 2)
	validate := func(payload any) {
		_, err := client.Validate(t.Context(), schema, payload, nil)
		failed <- err
	}
	go validate(nil)
	<-entered
	go validate("wait")
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var failure *sidecheck.Error
		if err := <-failed; !errors.As(err, &failure) || failure.Reason != "CLIENT_CLOSED" {
			t.Errorf("got %v, want CLIENT_CLOSED", err)
		}
	}
}
