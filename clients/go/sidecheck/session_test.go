package sidecheck_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// openSession returns a session that is closed at the end of the test.
func openSession(t *testing.T, address string, options *sidecheck.SessionOptions) *sidecheck.Session {
	t.Helper()
	session, err := sidechecktest.Open(t, address, nil).Protocol.Session(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

func ping(id int) any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "method": "ping"}
}

// answerMessages is a session whose messages are answered in order once release is closed; each
// that was received is sent to received.
func answerMessages(received chan<- string, release <-chan struct{}) func(pb.ProtocolService_CheckSessionServer) error {
	return func(stream pb.ProtocolService_CheckSessionServer) error {
		var ids []string
		for {
			request, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if item := request.GetItem(); item != nil {
				ids = append(ids, item.GetId())
				received <- string(item.GetMessage().GetJson())
			}
		}
		<-release
		for _, id := range ids {
			err := stream.Send(&pb.CheckSessionResponse{Id: id, Outcome: &pb.CheckOutcome{
				Outcome: &pb.CheckOutcome_Result{Result: &pb.CheckResult{Verdict: &pb.Verdict{Valid: true}}},
			}})
			if err != nil {
				return err
			}
		}
		return stream.Send(&pb.CheckSessionResponse{Summary: &pb.SessionSummary{}})
	}
}

func TestSessionChecksMessagesInOrder(t *testing.T) {
	// A message that waited for its turn for ever would wait for the deadline here.
	ctx, cancel := context.WithTimeout(t.Context(), sidechecktest.Patience)
	defer cancel()
	session := openSession(t, sidechecktest.RealServer(t), &sidecheck.SessionOptions{Outstanding: 1})
	for index, valid := range []bool{true, false} {
		// The second has the id of the first.
		result, err := session.Check(ctx, ping(1), sidecheck.SenderClient, 0)
		if err != nil || result.Verdict.Valid != valid {
			t.Fatalf("%d: got %+v, %v", index, result, err)
		}
	}
	if _, err := session.Check(t.Context(), "text", sidecheck.SenderClient, 0); !errors.Is(err, sidecheck.ErrInvalidArgument) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if summary, err := session.Finish(t.Context()); err != nil || summary == nil {
			t.Errorf("got %+v, %v", summary, err)
		}
	}
	if _, err := session.Check(t.Context(), ping(2), sidecheck.SenderClient, 0); !errors.Is(err, sidecheck.ErrInvalidArgument) {
		t.Errorf("after the end: got %v", err)
	}
}

func TestRejectedHTTPMessageTakesNoPart(t *testing.T) {
	session := openSession(t, sidechecktest.RealServer(t), nil)
	for _, httpStatus := range []int{400, 200} {
		result, err := session.Check(t.Context(), ping(1), sidecheck.SenderClient, httpStatus)
		if err != nil || !result.Verdict.Valid {
			t.Errorf("%d: got %+v, %v", httpStatus, result, err)
		}
	}
}

func TestMessageThatCannotBeCheckedLeavesTheSession(t *testing.T) {
	session := openSession(t, sidechecktest.RealServer(t), &sidecheck.SessionOptions{Continued: true})
	large := []string{strings.Repeat("x", 8<<20)}
	_, err := session.Check(t.Context(), large, sidecheck.SenderClient, 0)
	var failure *sidecheck.Error
	if !errors.As(err, &failure) || failure.Metadata["bound"] != "message_bytes" {
		t.Errorf("got %v", err)
	}
	if result, err := session.Check(t.Context(), ping(1), sidecheck.SenderClient, 0); err != nil || !result.Verdict.Valid {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestCallersOfASessionMayLeave(t *testing.T) {
	received, release := make(chan string, 10), make(chan struct{})
	address := (&sidechecktest.StandIn{OnSession: answerMessages(received, release)}).Serve(t)
	session := openSession(t, address, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var want []string
	for index := range 10 {
		if _, err := session.Check(ctx, index, sidecheck.SenderClient, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		want = append(want, fmt.Sprint(index))
	}
	// The messages are checked all the same, in the order of the calls.
	var seen []string
	for range want {
		seen = append(seen, <-received)
	}
	if !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
	close(release)
	if _, err := session.Finish(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLeavingASessionReleasesItsGoroutines(t *testing.T) {
	silent := func(stream pb.ProtocolService_CheckSessionServer) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{OnSession: silent}).Serve(t), nil)
	if _, err := client.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		session, err := client.Protocol.Session(t.Context(), &sidecheck.SessionOptions{Outstanding: 1})
		if err != nil {
			t.Fatal(err)
		}
		// Of these one is sent and two wait.
		waiting := make(chan error, 3)
		for index := range 3 {
			go func() {
				_, err := session.Check(t.Context(), ping(index), sidecheck.SenderClient, 0)
				waiting <- err
			}()
		}
		session.Close()
		for range 3 {
			var closed *sidecheck.StreamClosedError
			if err := <-waiting; !errors.As(err, &closed) || closed.Err.Reason != "CANCELLED" {
				t.Errorf("got %v", err)
			}
		}
		if _, err := session.Finish(t.Context()); err == nil {
			t.Error("a session that was left finishes")
		}
	}
	expectGoroutines(t, before)
}

func TestSessionsOfFaultyServers(t *testing.T) {
	for name, serveSession := range map[string]func(pb.ProtocolService_CheckSessionServer) error{
		"early end": func(stream pb.ProtocolService_CheckSessionServer) error { _, err := stream.Recv(); return err },
		"no result": func(stream pb.ProtocolService_CheckSessionServer) error {
			return stream.Send(&pb.CheckSessionResponse{Outcome: &pb.CheckOutcome{}})
		},
		"no summary": func(stream pb.ProtocolService_CheckSessionServer) error {
			for {
				if _, err := stream.Recv(); err != nil {
					return nil
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			session := openSession(t, (&sidechecktest.StandIn{OnSession: serveSession}).Serve(t), nil)
			var err error
			if name == "no summary" {
				_, err = session.Finish(t.Context())
			} else {
				_, err = session.Check(t.Context(), ping(1), sidecheck.SenderClient, 0)
			}
			var invalid *sidecheck.InvalidResponseError
			if !errors.As(err, &invalid) {
				t.Errorf("got %v, want an invalid response", err)
			}
		})
	}
}

func TestServerIsKilledInASession(t *testing.T) {
	server := sidechecktest.Start(t, "127.0.0.1:0")
	session := openSession(t, server.Address, nil)
	if _, err := session.Check(t.Context(), ping(1), sidecheck.SenderClient, 0); err != nil {
		t.Fatal(err)
	}
	server.Pause(t)
	failed := make(chan error, 1)
	go func() {
		_, err := session.Check(t.Context(), ping(2), sidecheck.SenderClient, 0)
		failed <- err
	}()
	server.Kill()
	err := <-failed
	var lost *sidecheck.StreamUnavailableError
	if !errors.As(err, &lost) || len(lost.Unanswered) > 1 {
		t.Errorf("got %v", err)
	}
	if _, err := session.Finish(t.Context()); !errors.As(err, &lost) {
		t.Errorf("got %v", err)
	}
}
