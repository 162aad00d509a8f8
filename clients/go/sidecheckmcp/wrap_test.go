package sidecheckmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	"github.com/sidecheck/sidecheck/clients/go/sidecheckmcp"
)

// realServer returns the address of the server that tests/conformance provides, or skips the
// test.
func realServer(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SIDECHECK_CONFORMANCE")
	if path == "" {
		const reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance"
		if os.Getenv("SIDECHECK_REQUIRE_ALL") == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found struct{ Servers map[string]string }
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	return found.Servers["real"]
}

func echo(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(request.Params.Arguments)}},
		StructuredContent: request.Params.Arguments,
	}, nil
}

var repeat = &mcp.Tool{
	Name: "repeat",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"count":{"type":"integer"}},
		"required":["count"]}`),
	OutputSchema: json.RawMessage(`{"type":"object","properties":{"count":{"maximum":9}}}`),
}

// connect returns a session with a server whose calls are validated at address, and its client of
// Sidecheck.
func connect(
	t *testing.T, address string, clientOptions *sidecheck.ClientOptions, options *sidecheckmcp.Options,
) (*mcp.ClientSession, *mcp.Server, *sidecheck.Client) {
	t.Helper()
	client, err := sidecheck.New(address, clientOptions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(repeat, echo)
	sidecheckmcp.Wrap(server, client, "go "+t.Name(), options)
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session, server, client
}

// call returns the text of the result, and whether it is an error.
func call(t *testing.T, session *mcp.ClientSession, tool string, arguments any) (string, bool, error) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", false, err
	}
	text, isText := result.Content[0].(*mcp.TextContent)
	if !isText {
		t.Fatalf("got %+v, want text", result.Content)
	}
	return text.Text, result.IsError, nil
}

var patient = &sidecheck.ClientOptions{Timeout: time.Minute}

func TestCallsAndResultsAreValidated(t *testing.T) {
	session, server, client := connect(t, realServer(t), patient, nil)
	for _, test := range []struct {
		arguments object
		text      string
		isError   bool
	}{
		{object{"count": 1}, `{"count":1}`, false},
		{object{"count": "1"}, "count: expected an integer", true},
		{object{"count": 10}, "Output validation error", true},
	} {
		text, isError, err := call(t, session, "repeat", test.arguments)
		if err != nil || isError != test.isError || !strings.Contains(text, test.text) {
			t.Errorf("%v: got %q, %v, %v", test.arguments, text, isError, err)
		}
	}
	expectCode(t, session, "none", jsonrpc.CodeInvalidParams)

	// As after a restart of Sidecheck with an empty registry.
	if _, err := client.DeleteAll(t.Context(), "go "+t.Name()); err != nil {
		t.Fatal(err)
	}
	if _, isError, err := call(t, session, "repeat", object{"count": "1"}); err != nil || !isError {
		t.Errorf("after a loss of the registry: got %v, %v", isError, err)
	}

	changed := *repeat
	changed.InputSchema = json.RawMessage(`{"type":"object","required":["other"]}`)
	server.AddTool(&changed, echo)
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if text, isError, err := call(t, session, "repeat", object{"count": 1}); err != nil || !isError {
		t.Errorf("after a change: got %q, %v", text, err)
	}
}

type object = map[string]any

func expectCode(t *testing.T, session *mcp.ClientSession, tool string, code int64) {
	t.Helper()
	_, _, err := call(t, session, tool, object{})
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) || failure.Code != code {
		t.Errorf("%s: got %v, want %d", tool, err, code)
	}
}

func TestHandlerGetsRepairedArguments(t *testing.T) {
	session, _, _ := connect(t, realServer(t), patient, &sidecheckmcp.Options{
		Validation: sidecheck.Options{Coercion: sidecheck.CoercionSafeScalars},
	})
	text, isError, err := call(t, session, "repeat", object{"count": "1"})
	if err != nil || isError || text != `{"count":1}` {
		t.Errorf("got %q, %v, %v", text, isError, err)
	}
}

func TestRejectedToolIsReported(t *testing.T) {
	var told []error
	session, server, _ := connect(t, realServer(t), patient, &sidecheckmcp.Options{
		OnError: func(_ context.Context, _ string, err error) { told = append(told, err) },
	})
	server.AddTool(&mcp.Tool{
		Name: "broken", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"any"}}}`),
	}, echo)
	expectCode(t, session, "broken", jsonrpc.CodeInternalError)
	var rejected *sidecheck.ToolsRejectedError
	if len(told) == 0 || !errors.As(told[0], &rejected) {
		t.Errorf("got %v", told)
	}
	if _, isError, err := call(t, session, "repeat", object{"count": 1}); err != nil || isError {
		t.Errorf("the other tool: got %v, %v", isError, err)
	}
}

func TestPolicyAppliesWithoutSidecheck(t *testing.T) {
	address := "unix:" + t.TempDir() + "/none.sock"
	for policy, check := range map[sidecheck.OnUnavailable]func(text string, isError bool, err error) bool{
		sidecheck.OnUnavailableAllow: func(text string, isError bool, err error) bool {
			return err == nil && !isError && text == `{"count":"1"}`
		},
		sidecheck.OnUnavailableDeny: func(text string, isError bool, err error) bool {
			return err == nil && isError && strings.Contains(text, "Try again later")
		},
		sidecheck.OnUnavailableError: func(_ string, _ bool, err error) bool {
			var failure *jsonrpc.Error
			return errors.As(err, &failure) && failure.Code == jsonrpc.CodeInternalError &&
				strings.Contains(failure.Message, "Sidecheck is unavailable: UNAVAILABLE")
		},
	} {
		session, _, _ := connect(t, address, &sidecheck.ClientOptions{
			Timeout: time.Minute, OnUnavailable: policy,
		}, nil)
		text, isError, err := call(t, session, "repeat", object{"count": "1"})
		if !check(text, isError, err) {
			t.Errorf("%s: got %q, %v, %v", policy, text, isError, err)
		}
	}
}
