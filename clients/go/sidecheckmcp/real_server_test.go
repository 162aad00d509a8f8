package sidecheckmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	"github.com/sidecheck/sidecheck/clients/go/sidecheckmcp"
)

func repeatArguments(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
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

// connect returns a session with a server whose calls are validated by a real server, and its
// client of Sidecheck.
func connect(t *testing.T, options *sidecheckmcp.Options) (*mcp.ClientSession, *mcp.Server, *sidecheck.Client) {
	t.Helper()
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(repeat, repeatArguments)
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

func TestCallsAndResultsAreValidated(t *testing.T) {
	session, server, client := connect(t, nil)
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
	server.AddTool(&changed, repeatArguments)
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
	session, _, _ := connect(t, &sidecheckmcp.Options{
		Validation: sidecheck.Options{Coercion: sidecheck.CoercionSafeScalars},
	})
	text, isError, err := call(t, session, "repeat", object{"count": "1"})
	if err != nil || isError || text != `{"count":1}` {
		t.Errorf("got %q, %v, %v", text, isError, err)
	}
}

func TestRejectedToolIsReported(t *testing.T) {
	var told []error
	session, server, _ := connect(t, &sidecheckmcp.Options{
		OnError: func(_ context.Context, err error) { told = append(told, err) },
	})
	server.AddTool(&mcp.Tool{
		Name: "broken", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"any"}}}`),
	}, repeatArguments)
	expectCode(t, session, "broken", jsonrpc.CodeInternalError)
	var rejected *sidecheck.ToolsRejectedError
	if len(told) == 0 || !errors.As(told[0], &rejected) {
		t.Errorf("got %v", told)
	}
	if _, isError, err := call(t, session, "repeat", object{"count": 1}); err != nil || isError {
		t.Errorf("the other tool: got %v, %v", isError, err)
	}
}
