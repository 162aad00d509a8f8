package sidecheck_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

func arguments(payload any) sidecheck.Item {
	return sidecheck.Item{Subject: sidecheck.Arguments{Payload: payload}}
}

// openStream returns a stream that is closed at the end of the test.
func openStream(t *testing.T, client *sidecheck.Client, options *sidecheck.StreamOptions) *sidecheck.Stream {
	t.Helper()
	stream, err := client.Stream(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stream.Close)
	return stream
}

func TestStreamKeepsOrderAndLocalErrors(t *testing.T) {
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	payloads := []any{map[string]any{"q": "x"}, math.NaN(), strings.Repeat("x", 5<<20), nil}
	// A string of a message must be UTF-8.
	notUTF8 := sidecheck.StreamItem{ID: "4", Item: sidecheck.Item{
		Subject: sidecheck.Arguments{}, Target: sidecheck.RegisteredTool{Server: "\xff"},
	}}
	items := func(yield func(sidecheck.StreamItem) bool) {
		for index, payload := range payloads {
			if !yield(sidecheck.StreamItem{ID: fmt.Sprint(index), Item: arguments(payload)}) {
				return
			}
		}
		yield(notUTF8)
	}
	var seen []string
	for outcome, err := range client.ValidateStream(t.Context(), items, &sidecheck.StreamOptions{Target: schema}) {
		if err != nil {
			t.Fatal(err)
		}
		var failure *sidecheck.Error
		switch {
		case errors.As(outcome.Err, &failure):
			seen = append(seen, outcome.ID+" "+failure.Reason)
		default:
			seen = append(seen, fmt.Sprint(outcome.ID, " ", outcome.Verdict.Valid))
		}
	}
	want := []string{"0 true", "1 INVALID_REQUEST", "2 LIMIT_EXCEEDED", "3 false", "4 INVALID_REQUEST"}
	if !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

// answer is a stream of a server that answers each item with its id, or with that of change.
func answer(change func(id string) string) func(pb.ValidationService_ValidateStreamServer) error {
	return func(stream pb.ValidationService_ValidateStreamServer) error {
		for {
			request, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if request.GetItem() == nil {
				continue
			}
			err = stream.Send(&pb.ValidateStreamResponse{
				Id: change(request.GetItem().GetId()),
				Outcome: &pb.ValidateOutcome{Outcome: &pb.ValidateOutcome_Verdict{
					Verdict: &pb.Verdict{Valid: true},
				}},
			})
			if err != nil {
				return err
			}
		}
	}
}

func TestSenderWaitsForTheReader(t *testing.T) {
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{OnStream: answer(func(id string) string { return id })}).Serve(t), nil)
	stream := openStream(t, client, &sidecheck.StreamOptions{Target: schema, Outstanding: 2})
	sent := make(chan int, 10)
	failed := make(chan error, 1)
	go func() {
		for index := range 10 {
			if err := stream.Send(fmt.Sprint(index), arguments(nil)); err != nil {
				failed <- err
				return
			}
			sent <- index
		}
		failed <- stream.Finish()
	}()
	for index := range 10 {
		outcome, err := stream.Receive()
		if err != nil || outcome.ID != fmt.Sprint(index) {
			t.Fatalf("got %+v, %v", outcome, err)
		}
		// Of this and the earlier items outcomes were read, and two more may be under way.
		if ahead := len(sent); ahead > index+3 {
			t.Errorf("%d items were sent before outcome %d", ahead, index)
		}
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	if _, err := stream.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want EOF", err)
	}
	if err := stream.Send("late", arguments(nil)); !errors.Is(err, sidecheck.ErrInvalidArgument) {
		t.Errorf("got %v", err)
	}
}

func TestStreamsOfFaultyServers(t *testing.T) {
	for name, serveStream := range map[string]func(pb.ValidationService_ValidateStreamServer) error{
		"wrong id":  answer(func(string) string { return "other" }),
		"early end": func(stream pb.ValidationService_ValidateStreamServer) error { _, err := stream.Recv(); return err },
	} {
		t.Run(name, func(t *testing.T) {
			stream := openStream(t, sidechecktest.Open(t, (&sidechecktest.StandIn{OnStream: serveStream}).Serve(t), nil), nil)
			// The server may have ended the stream before.
			sent := stream.Send("1", arguments(nil))
			_, err := stream.Receive()
			var closed *sidecheck.StreamClosedError
			var invalid *sidecheck.InvalidResponseError
			if !errors.As(err, &closed) || !errors.As(err, &invalid) {
				t.Fatalf("got %v, want an invalid response", err)
			}
			if sent == nil && !slices.Equal(closed.Unanswered, []string{"1"}) {
				t.Errorf("got %v unanswered", closed.Unanswered)
			}
		})
	}
}

func TestItemWithoutAValidID(t *testing.T) {
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{
		OnStream: answer(func(id string) string { return id }),
	}).Serve(t), nil)
	items := slices.Values([]sidecheck.StreamItem{{ID: "\xff", Item: arguments(nil)}})
	for outcome, err := range client.ValidateStream(t.Context(), items, nil) {
		if !errors.Is(err, sidecheck.ErrInvalidArgument) {
			t.Errorf("got %+v, %v", outcome, err)
		}
	}
}

func TestLeavingAStreamReleasesItsGoroutines(t *testing.T) {
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{OnStream: func(stream pb.ValidationService_ValidateStreamServer) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}}).Serve(t), nil)
	if _, err := client.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := client.Stream(ctx, &sidecheck.StreamOptions{Outstanding: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send("1", arguments(nil)); err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() { waiting <- stream.Send("2", arguments(nil)) }()
		cancel()
		_, err = stream.Receive()
		var closed *sidecheck.StreamClosedError
		if !errors.Is(err, context.Canceled) || !errors.As(err, &closed) ||
			!slices.Equal(closed.Unanswered, []string{"1"}) {
			t.Errorf("got %v", err)
		}
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("the sender that waited got %v", err)
		}
		stream.Close()
	}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		items := func(yield func(sidecheck.StreamItem) bool) {
			defer cancel()
			yield(sidecheck.StreamItem{ID: "1", Item: arguments(nil)})
		}
		for _, err := range client.ValidateStream(ctx, items, nil) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	}
	expectGoroutines(t, before)
}

// expectGoroutines waits until there are at most count goroutines. Those of a server end a little
// after a call.
func expectGoroutines(t *testing.T, count int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= count {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", count, runtime.NumGoroutine())
}

func TestServerIsKilledAndComesBack(t *testing.T) {
	server := sidechecktest.Start(t, "127.0.0.1:0")
	client := sidechecktest.Open(t, server.Address, nil)
	stream := openStream(t, client, &sidecheck.StreamOptions{Target: schema})
	if err := stream.Send("answered", arguments(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Receive(); err != nil {
		t.Fatal(err)
	}
	server.Pause(t)
	for _, id := range []string{"1", "2"} {
		if err := stream.Send(id, arguments(nil)); err != nil {
			t.Fatal(err)
		}
	}
	server.Kill()
	_, err := stream.Receive()
	var lost *sidecheck.StreamUnavailableError
	var unavailable *sidecheck.UnavailableError
	if !errors.As(err, &lost) || !errors.As(err, &unavailable) || !slices.Equal(lost.Unanswered, []string{"1", "2"}) {
		t.Fatalf("got %v", err)
	}
	sidechecktest.Start(t, server.Address)
	for started := time.Now(); ; {
		verdict, err := client.Validate(t.Context(), schema, nil, nil)
		if err == nil {
			if verdict.Valid {
				t.Errorf("got %+v", verdict)
			}
			return
		}
		if !errors.As(err, &unavailable) || time.Since(started) > sidechecktest.Patience {
			t.Fatal(err)
		}
	}
}
