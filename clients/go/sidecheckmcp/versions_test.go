package sidecheckmcp

import (
	"context"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

func TestEachProtocolVersionIsRegisteredByItself(t *testing.T) {
	var versions []string
	address := (&sidechecktest.StandIn{
		OnRegister: func(request *pb.RegisterToolsRequest) (*pb.RegisterToolsResponse, error) {
			versions = append(versions, request.GetProtocolVersion())
			return &pb.RegisterToolsResponse{Outcomes: []*pb.RegistrationOutcome{{Name: "echo"}}}, nil
		},
	}).Serve(t)
	registrar := newRegistrar(sidechecktest.Open(t, address, nil), "server", logError)
	list := func(context.Context, string, mcp.Request) (mcp.Result, error) {
		return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "echo"}}}, nil
	}
	for _, version := range []string{"2025-06-18", "2025-11-25", "2025-06-18", "2025-11-25"} {
		call := &toolCall{
			request: &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: "echo"}},
			version: version, next: list,
		}
		if _, err := registrar.register(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"2025-06-18", "2025-11-25"}; !slices.Equal(versions, want) {
		t.Errorf("got %v, want %v", versions, want)
	}
}
