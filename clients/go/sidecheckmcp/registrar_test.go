package sidecheckmcp_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
	"github.com/sidecheck/sidecheck/clients/go/sidecheckmcp"
)

func TestSidecheckLostTheTools(t *testing.T) {
	for lost, name := range []string{"before the call", "before the result"} {
		t.Run(name, func(t *testing.T) {
			fake := newSidecheck()
			fake.verdict = func(number int, _ *pb.ValidateRequest) (*pb.Verdict, error) {
				if number == lost {
					return nil, unknownTool()
				}
				return valid(), nil
			}
			echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
			if text, isError, err := echo.call(t, "echo"); text != "echoed" || isError || err != nil {
				t.Error(text, isError, err)
			}
			if len(fake.registrations) != 2 || len(echo.handled) != 1 {
				t.Errorf("%d registrations, handled %v", len(fake.registrations), echo.handled)
			}
		})
	}
}

func TestToolsAreRegisteredAgainOncePerCall(t *testing.T) {
	fake := newSidecheck()
	fake.verdict = always(nil, unknownTool())
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	_, _, err := echo.call(t, "echo")
	expectError(t, err, -32602, "Unknown tool: tides")
	if len(fake.registrations) != 2 || len(fake.validations) != 2 {
		t.Errorf("%d registrations, %d validations", len(fake.registrations), len(fake.validations))
	}
}

func TestChangedToolsAreRegistered(t *testing.T) {
	fake := newSidecheck()
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	for range 2 {
		if _, _, err := echo.call(t, "echo"); err != nil {
			t.Fatal(err)
		}
		echo.addTool("another")
		if _, err := echo.client.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(fake.registrations) != 2 || len(fake.registrations[1].GetTools()) != 2 {
		t.Errorf("registrations: %v", fake.registrations)
	}
}

func TestRejectedTool(t *testing.T) {
	fake := newSidecheck()
	fake.rejected = "odd"
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	echo.addTool("odd")
	_, _, err := echo.call(t, "odd")
	expectError(t, err, -32603,
		`rejected the definition of the tool "odd": /inputSchema: expected an object [TYPE]`)
	if text, _, err := echo.call(t, "echo"); text != "echoed" || err != nil {
		t.Error(text, err)
	}
	var rejected *sidecheck.ToolsRejectedError
	if len(echo.errors) != 1 || !errors.As(echo.errors[0], &rejected) {
		t.Errorf("told %v", echo.errors)
	}
}

func TestCallsThatWaitShareAFailedRegistration(t *testing.T) {
	fake := newSidecheck()
	attempts, release := make(chan struct{}, 10), make(chan struct{})
	fake.OnRegister = func(*pb.RegisterToolsRequest) (*pb.RegisterToolsResponse, error) {
		attempts <- struct{}{}
		<-release
		return nil, sidechecktest.Failure(codes.ResourceExhausted, "OVERLOADED", nil)
	}
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	failed := make(chan error, 5)
	for range cap(failed) {
		go func() {
			_, _, err := echo.call(t, "echo")
			failed <- err
		}()
	}
	<-attempts
	waitForWaiters(cap(failed) - 1)
	close(release)
	for range cap(failed) {
		expectError(t, <-failed, -32603, "Sidecheck is unavailable: OVERLOADED")
	}
	if again := len(attempts); again > 0 {
		t.Errorf("%d attempts after the first", again)
	}
}

// waitForWaiters waits until count calls wait for the registration of another.
func waitForWaiters(count int) {
	stacks := make([]byte, 1<<20)
	for {
		size := runtime.Stack(stacks, true)
		if bytes.Count(stacks[:size], []byte("(*registrar).begin(")) >= count {
			return
		}
		runtime.Gosched()
	}
}
