package sidecheckmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
	"github.com/sidecheck/sidecheck/clients/go/sidecheckmcp"
)

// fakeSidecheck finds everything valid and registers everything, unless a test says otherwise.
type fakeSidecheck struct {
	sidechecktest.StandIn

	mutex         sync.Mutex
	registrations []*pb.RegisterToolsRequest
	validations   []*pb.ValidateRequest
	// verdict answers the validation of the number, from 0.
	verdict func(number int, request *pb.ValidateRequest) (*pb.Verdict, error)
	// rejected is the name of a tool that is not registered.
	rejected string
}

func newSidecheck() *fakeSidecheck {
	fake := &fakeSidecheck{verdict: always(valid(), nil)}
	fake.OnRegister = fake.register
	fake.OnValidate = func(_ context.Context, request *pb.ValidateRequest) (*pb.ValidateResponse, error) {
		fake.mutex.Lock()
		defer fake.mutex.Unlock()
		number := len(fake.validations)
		fake.validations = append(fake.validations, request)
		verdict, err := fake.verdict(number, request)
		return &pb.ValidateResponse{Verdict: verdict}, err
	}
	return fake
}

func (f *fakeSidecheck) register(request *pb.RegisterToolsRequest) (*pb.RegisterToolsResponse, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.registrations = append(f.registrations, request)
	response := &pb.RegisterToolsResponse{}
	for _, tool := range request.GetTools() {
		var definition struct{ Name string }
		if err := json.Unmarshal(tool.GetJson(), &definition); err != nil {
			return nil, err
		}
		outcome := &pb.RegistrationOutcome{
			Name: definition.Name, Action: pb.RegistrationOutcome_ACTION_CREATED,
		}
		if definition.Name == f.rejected {
			outcome.Action = pb.RegistrationOutcome_ACTION_REJECTED
			outcome.Violations = []*pb.Violation{{
				Code: "TYPE", Message: "expected an object", InstanceLocation: "/inputSchema",
				Severity: pb.Severity_SEVERITY_ERROR,
			}}
		}
		response.Outcomes = append(response.Outcomes, outcome)
	}
	return response, nil
}

func valid() *pb.Verdict { return &pb.Verdict{Valid: true, Enforced: true} }

// always answers each validation alike.
func always(verdict *pb.Verdict, err error) func(
	int, *pb.ValidateRequest,
) (*pb.Verdict, error) {
	return func(int, *pb.ValidateRequest) (*pb.Verdict, error) {
		return verdict, err
	}
}

// echoServer is a wrapped MCP server whose tool echo returns its arguments, with a client.
type echoServer struct {
	server *mcp.Server
	client *mcp.ClientSession

	mutex sync.Mutex
	// handled are the arguments that reached the tool.
	handled []string
	errors  []error
	reports []string
}

// newEcho starts a server that is validated by Sidecheck at address, and that has these protocol
// versions, by default those of the SDK.
func newEcho(
	t *testing.T, address string, policy sidecheck.OnUnavailable, options sidecheckmcp.Options,
	versions ...string,
) *echoServer {
	t.Helper()
	client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{
		Timeout: sidechecktest.Patience, OnUnavailable: policy,
	})
	echo := &echoServer{
		server: mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"},
			&mcp.ServerOptions{SupportedProtocolVersions: versions}),
	}
	options.OnError = func(_ context.Context, err error) {
		echo.mutex.Lock()
		defer echo.mutex.Unlock()
		echo.errors = append(echo.errors, err)
	}
	options.OnReport = func(_ context.Context, tool string, verdict *sidecheck.Verdict) {
		echo.mutex.Lock()
		defer echo.mutex.Unlock()
		echo.reports = append(echo.reports, tool+" "+verdict.Violations[0].Code)
	}
	echo.addTool("echo")
	sidecheckmcp.Wrap(echo.server, client, "namespace", &options)
	clientTransport, serverTransport := mcp.NewInMemoryTransports()
	serverSession, err := echo.server.Connect(t.Context(), serverTransport, nil)
	if err != nil {
		t.Fatal(err)
	}
	echo.client, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), clientTransport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(echo.client.Close(), serverSession.Wait()); err != nil {
			t.Error(err)
		}
	})
	return echo
}

func (e *echoServer) addTool(name string) {
	tool := &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
	e.server.AddTool(tool, func(
		_ context.Context, request *mcp.CallToolRequest,
	) (*mcp.CallToolResult, error) {
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.handled = append(e.handled, string(request.Params.Arguments))
		return &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: "echoed"}},
			StructuredContent: request.Params.Arguments,
		}, nil
	})
}

// call calls a tool, and returns the text of its result or the error.
func (e *echoServer) call(t *testing.T, name string) (text string, isError bool, err error) {
	t.Helper()
	result, err := e.client.CallTool(
		t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"n": 1}})
	if err != nil {
		return "", false, err
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError, nil
}

// expectError checks that err is a JSON-RPC error.
func expectError(t *testing.T, err error, code int64, message string) {
	t.Helper()
	var sent *jsonrpc.Error
	if !errors.As(err, &sent) || sent.Code != code || !strings.Contains(sent.Message, message) {
		t.Errorf("got %v, want %d %s", err, code, message)
	}
}
