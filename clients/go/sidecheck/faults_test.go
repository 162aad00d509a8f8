package sidecheck_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
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

// failing returns the address of a server whose validations fail with the error of fail.
func failing(t *testing.T, fail func() error) string {
	return (&sidechecktest.StandIn{
		OnValidate: func(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			return nil, fail()
		},
	}).Serve(t)
}

// withReason returns a status with an ErrorInfo and a RetryInfo.
func withReason(code codes.Code, reason, domain string) error {
	detailed, err := status.New(code, "a message").WithDetails(
		&errdetails.ErrorInfo{Reason: reason, Domain: domain, Metadata: map[string]string{"a": "b"}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)},
	)
	if err != nil {
		return err
	}
	return detailed.Err()
}

func TestErrorsOfCalls(t *testing.T) {
	for name, test := range map[string]struct {
		err         error
		reason      string
		unavailable bool
	}{
		"a reason":             {withReason(codes.NotFound, "UNKNOWN_TOOL", "sidecheck"), "UNKNOWN_TOOL", false},
		"internal with reason": {withReason(codes.Internal, "INTERNAL_ERROR", "sidecheck"), "INTERNAL_ERROR", false},
		"overloaded":           {withReason(codes.ResourceExhausted, "OVERLOADED", "sidecheck"), "OVERLOADED", true},
		"another domain":       {withReason(codes.Internal, "OTHER", "example.com"), "INTERNAL", true},
		"unauthenticated":      {status.Error(codes.Unauthenticated, "no"), "UNAUTHENTICATED", true},
		"not found":            {status.Error(codes.NotFound, "no"), "NOT_FOUND", false},
		"cancelled by server":  {status.Error(codes.Canceled, "no"), "CANCELLED", true},
		"too large": {
			status.Error(codes.ResourceExhausted, "grpc: received message larger than max (9 vs. 4)"),
			"LIMIT_EXCEEDED", false,
		},
		"413": {
			status.Error(codes.Unknown, "unexpected HTTP status code received from server: 413 (Request Entity Too Large)"),
			"LIMIT_EXCEEDED", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := sidechecktest.Open(t, failing(t, func() error { return test.err }), nil)
			_, err := client.Validate(t.Context(), schema, nil, nil)
			var failure *sidecheck.Error
			if !errors.As(err, &failure) || failure.Reason != test.reason {
				t.Fatalf("got %v, want %s", err, test.reason)
			}
			var unavailable *sidecheck.UnavailableError
			if errors.As(err, &unavailable) != test.unavailable {
				t.Errorf("got a %T", err)
			}
			if strings.HasSuffix(name, "reason") && (failure.Metadata["a"] != "b" || failure.RetryAfter != time.Second) {
				t.Errorf("got %+v", failure)
			}
		})
	}
}

func TestUnavailableIsRetried(t *testing.T) {
	var attempts atomic.Int32
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{
		OnValidate: func(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			if attempts.Add(1) < 4 {
				return nil, status.Error(codes.Unavailable, "not yet")
			}
			return sidechecktest.Valid(), nil
		},
	}).Serve(t), nil)
	if _, err := client.Validate(t.Context(), schema, nil, nil); err != nil || attempts.Load() != 4 {
		t.Errorf("got %v after %d attempts", err, attempts.Load())
	}
}

func TestPoliciesApplyToUnavailableServers(t *testing.T) {
	address := failing(t, func() error { return status.Error(codes.Unauthenticated, "no") })
	for policy, valid := range map[sidecheck.OnUnavailable]bool{"allow": true, "deny": false} {
		client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{Timeout: sidechecktest.Patience, OnUnavailable: policy})
		verdict, err := client.Validate(t.Context(), schema, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		violation := verdict.Violations[0]
		if verdict.Valid != valid || violation.Code != sidecheck.CodeUnavailable ||
			violation.Message != "not validated: UNAUTHENTICATED: no" {
			t.Errorf("%s: got %+v", policy, verdict)
		}
		if (verdict.ToolErrorText == "") != valid || (verdict.Err() == nil) != valid {
			t.Errorf("%s: got %+v", policy, verdict)
		}
	}
	notFound := failing(t, func() error { return status.Error(codes.NotFound, "no") })
	client := sidechecktest.Open(t, notFound, &sidecheck.ClientOptions{OnUnavailable: sidecheck.OnUnavailableAllow})
	if _, err := client.Validate(t.Context(), schema, nil, nil); err == nil {
		t.Error("the policy applies to an error that a server reports")
	}
}

func TestDeadlines(t *testing.T) {
	entered := make(chan time.Duration, 8)
	address := (&sidechecktest.StandIn{
		OnValidate: func(ctx context.Context, _ *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			deadline, _ := ctx.Deadline()
			entered <- time.Until(deadline)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}).Serve(t)
	client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{Timeout: time.Millisecond})
	var unavailable *sidecheck.UnavailableError
	if _, err := client.Validate(t.Context(), schema, nil, nil); !errors.As(err, &unavailable) ||
		unavailable.Err.Reason != "DEADLINE_EXCEEDED" {
		t.Errorf("got %v", err)
	}
	for len(entered) > 0 {
		<-entered
	}
	// The deadline of the context replaces that of the client, also where it is later.
	ctx, cancel := context.WithTimeout(t.Context(), sidechecktest.Patience)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := client.Validate(ctx, schema, nil, nil)
		failed <- err
	}()
	for left := range entered {
		if left > sidechecktest.Patience/2 {
			break
		}
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestErrorsOfContexts(t *testing.T) {
	address := (&sidechecktest.StandIn{
		OnValidate: func(ctx context.Context, _ *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}).Serve(t)
	deadline := func(parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(parent, time.Millisecond)
	}
	cancelled := func(parent context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(parent)
		cancel()
		return ctx, cancel
	}
	items := []sidecheck.Item{{Subject: sidecheck.Arguments{}, Target: schema}}
	for name, call := range map[string]func(context.Context, *sidecheck.Client) error{
		"a call": func(ctx context.Context, client *sidecheck.Client) error {
			_, err := client.Validate(ctx, schema, nil, nil)
			return err
		},
		"a batch": func(ctx context.Context, client *sidecheck.Client) error {
			outcomes, err := client.ValidateBatch(ctx, items, nil)
			if err != nil {
				return err
			}
			return outcomes[0].Err
		},
		"a stream": func(ctx context.Context, client *sidecheck.Client) error {
			_, err := client.Stream(ctx, nil)
			return err
		},
		"a watch": func(ctx context.Context, client *sidecheck.Client) error {
			for _, err := range client.Watch(ctx, nil) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		for _, coalesce := range []bool{false, true} {
			client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{
				Timeout: sidechecktest.Patience, Coalesce: coalesce,
			})
			for _, test := range []struct {
				end  func(context.Context) (context.Context, context.CancelFunc)
				want error
			}{{deadline, context.DeadlineExceeded}, {cancelled, context.Canceled}} {
				ctx, cancel := test.end(t.Context())
				<-ctx.Done()
				if err := call(ctx, client); !errors.Is(err, test.want) {
					t.Errorf("%s: got %v, want %v", name, err, test.want)
				}
				cancel()
			}
		}
	}
	client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{Timeout: time.Millisecond})
	_, err := client.Validate(t.Context(), schema, nil, nil)
	var unavailable *sidecheck.UnavailableError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &unavailable) {
		t.Errorf("got %v, want the deadline of the client", err)
	}
}

func TestInvalidResponses(t *testing.T) {
	address := (&sidechecktest.StandIn{
		OnValidate: func(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			return &pb.ValidateResponse{}, nil
		},
		OnBatch: func(context.Context, *pb.ValidateBatchRequest) (*pb.ValidateBatchResponse, error) {
			return &pb.ValidateBatchResponse{}, nil
		},
	}).Serve(t)
	client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{Timeout: sidechecktest.Patience, OnUnavailable: "allow"})
	var invalid *sidecheck.InvalidResponseError
	if _, err := client.Validate(t.Context(), schema, nil, nil); !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
	items := []sidecheck.Item{{Subject: sidecheck.Arguments{}, Target: schema}}
	if _, err := client.ValidateBatch(t.Context(), items, nil); !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
}

func TestClosedClient(t *testing.T) {
	entered := make(chan struct{})
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{
		OnValidate: func(ctx context.Context, _ *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}).Serve(t), &sidecheck.ClientOptions{Timeout: sidechecktest.Patience, OnUnavailable: sidecheck.OnUnavailableAllow})
	failed := make(chan error, 1)
	go func() {
		_, err := client.Validate(t.Context(), schema, nil, nil)
		failed <- err
	}()
	<-entered
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	_, later := client.Validate(t.Context(), schema, nil, nil)
	for _, err := range []error{<-failed, later} {
		var failure *sidecheck.Error
		if !errors.As(err, &failure) || failure.Reason != "CLIENT_CLOSED" {
			t.Errorf("got %v, want CLIENT_CLOSED", err)
		}
	}
}

func TestBatchesAreSplitByTheLimits(t *testing.T) {
	var sizes []int
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{
		Limits: &pb.Limits{MessageBytes: 1000, BatchItems: 3},
		OnBatch: func(_ context.Context, request *pb.ValidateBatchRequest) (*pb.ValidateBatchResponse, error) {
			sizes = append(sizes, len(request.GetItems()))
			if len(sizes) > 2 {
				return nil, status.Error(codes.Unauthenticated, "no more")
			}
			return sidechecktest.AllValid(request), nil
		},
	}).Serve(t), &sidecheck.ClientOptions{Timeout: sidechecktest.Patience, OnUnavailable: sidecheck.OnUnavailableDeny})
	var items []sidecheck.Item
	for index := range 8 {
		size := 1
		if index == 4 {
			size = 2000
		}
		items = append(items, sidecheck.Item{Subject: sidecheck.Arguments{strings.Repeat("x", size)}})
	}
	outcomes, err := client.ValidateBatch(t.Context(), items, &sidecheck.BatchOptions{Target: schema})
	if err != nil || len(outcomes) != 8 {
		t.Fatalf("got %d outcomes, %v", len(outcomes), err)
	}
	// Parts of 3 and 1, the item that is too large, and the rest, which nobody answers.
	for index, outcome := range outcomes {
		var failure *sidecheck.Error
		switch {
		case index == 4:
			if !errors.As(outcome.Err, &failure) || failure.Metadata["bound"] != "message_bytes" {
				t.Errorf("%d: got %+v", index, outcome)
			}
		case outcome.Err != nil || outcome.Verdict.Valid != (index < 4):
			t.Errorf("%d: got %+v", index, outcome)
		}
	}
}
