package sidecheckmcp_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
	"github.com/sidecheck/sidecheck/clients/go/sidecheckmcp"
)

func TestValidCallPasses(t *testing.T) {
	fake := newSidecheck()
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	for range 2 {
		if text, isError, err := echo.call(t, "echo"); text != "echoed" || isError || err != nil {
			t.Fatal(text, isError, err)
		}
	}
	if len(fake.registrations) != 1 || fake.registrations[0].GetServer() != "namespace" {
		t.Errorf("registrations: %v", fake.registrations)
	}
	params, result := fake.validations[0], fake.validations[1]
	if !strings.Contains(string(params.GetSubject().GetCallParams()), `"arguments":{"n":1}`) {
		t.Errorf("params: %v", params)
	}
	if !strings.Contains(string(result.GetSubject().GetCallResult()), `"structuredContent":{"n":1}`) ||
		result.GetTarget().GetRegisteredTool().GetName() != "echo" {
		t.Errorf("result: %v", result)
	}
}

func TestNegotiatedProtocolVersion(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		fake := newSidecheck()
		echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{}, version)
		if _, _, err := echo.call(t, "echo"); err != nil {
			t.Fatal(err)
		}
		if registered := fake.registrations[0].GetProtocolVersion(); registered != version {
			t.Errorf("registered under %q, want %q", registered, version)
		}
		for _, validation := range fake.validations {
			if validated := validation.GetOptions().GetProtocolVersion(); validated != version {
				t.Errorf("validated under %q, want %q", validated, version)
			}
		}
	}
}

func TestInvalidCallIsReplaced(t *testing.T) {
	fake := newSidecheck()
	fake.verdict = always(&pb.Verdict{
		Enforced:       true,
		CallToolResult: []byte(`{"content":[{"type":"text","text":"our text"}],"isError":true}`),
	}, nil)
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	text, isError, err := echo.call(t, "echo")
	if text != "our text" || !isError || err != nil {
		t.Error(text, isError, err)
	}
	fake.verdict = always(&pb.Verdict{
		Enforced: true, JsonRpcError: []byte(`{"code":-32602,"message":"our error","data":[1]}`),
	}, nil)
	_, _, err = echo.call(t, "echo")
	expectError(t, err, -32602, "our error")
	if len(echo.handled) != 0 {
		t.Errorf("handled %v", echo.handled)
	}
}

func TestInvalidResultIsReplaced(t *testing.T) {
	fake := newSidecheck()
	fake.verdict = func(number int, _ *pb.ValidateRequest) (*pb.Verdict, error) {
		if number == 0 {
			return valid(), nil
		}
		return &pb.Verdict{Enforced: true, ToolErrorText: "no good"}, nil
	}
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	if text, isError, err := echo.call(t, "echo"); text != "no good" || !isError || err != nil {
		t.Error(text, isError, err)
	}
	if len(echo.handled) != 1 {
		t.Errorf("handled %v", echo.handled)
	}
}

func TestVerdictThatIsNotEnforced(t *testing.T) {
	fake := newSidecheck()
	fake.verdict = always(&pb.Verdict{
		Violations: []*pb.Violation{{Code: "TYPE"}},
		Repair:     &pb.Repair{Valid: true, Payload: []byte(`{"name":"echo"}`)},
	}, nil)
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	if text, isError, err := echo.call(t, "echo"); text != "echoed" || isError || err != nil {
		t.Error(text, isError, err)
	}
	if strings.Join(echo.reports, ", ") != "echo TYPE, echo TYPE" ||
		strings.Join(echo.handled, ", ") != `{"n":1}` {
		t.Errorf("reports %v, handled %v", echo.reports, echo.handled)
	}
}

func TestRepairedParamsReachTheHandler(t *testing.T) {
	fake := newSidecheck()
	fake.verdict = func(number int, _ *pb.ValidateRequest) (*pb.Verdict, error) {
		verdict := valid()
		if number == 0 {
			verdict.Valid = false
			verdict.Repair = &pb.Repair{
				Valid: true, Payload: []byte(`{"name":"echo","arguments":{"n":2}}`),
			}
		}
		return verdict, nil
	}
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{
		Validation: sidecheck.Options{
			Coercion: sidecheck.CoercionSafeScalars, OnUnknownTool: sidecheck.OnUnknownToolSkip,
		},
	})
	if text, isError, err := echo.call(t, "echo"); text != "echoed" || isError || err != nil {
		t.Error(text, isError, err)
	}
	if strings.Join(echo.handled, ", ") != `{"n":2}` {
		t.Errorf("handled %v", echo.handled)
	}
	// All tools are registered, so that unknown ones are errors whatever the options are.
	if onUnknown := fake.validations[0].GetOptions().GetOnUnknownTool(); onUnknown != pb.OnUnknownTool_ON_UNKNOWN_TOOL_ERROR {
		t.Errorf("unknown tools: %v", onUnknown)
	}
	if coercion := fake.validations[1].GetOptions().GetCoercion(); coercion != 0 {
		t.Errorf("the result is coerced: %v", coercion)
	}
}

func TestSidecheckIsUnavailable(t *testing.T) {
	for policy, want := range map[sidecheck.OnUnavailable]string{
		sidecheck.OnUnavailableError: "Sidecheck is unavailable: OVERLOADED",
		sidecheck.OnUnavailableAllow: "echoed",
		sidecheck.OnUnavailableDeny:  "This could not be validated and was rejected.",
	} {
		t.Run(string(policy), func(t *testing.T) {
			overloaded := sidechecktest.Failure(codes.ResourceExhausted, "OVERLOADED", nil)
			fake := newSidecheck()
			register := fake.OnRegister
			fake.OnRegister = func(*pb.RegisterToolsRequest) (*pb.RegisterToolsResponse, error) {
				return nil, overloaded
			}
			fake.verdict = always(nil, overloaded)
			echo := newEcho(t, fake.Serve(t), policy, sidecheckmcp.Options{})
			for range 2 {
				text, isError, err := echo.call(t, "echo")
				if policy == sidecheck.OnUnavailableError {
					expectError(t, err, -32603, want)
				} else if err != nil || !strings.Contains(text, want) ||
					isError != (policy == sidecheck.OnUnavailableDeny) {
					t.Error(text, isError, err)
				}
				// The second call fails although the tools can be registered.
				fake.OnRegister = register
			}
			// A result whose call was not validated is not either.
			if len(fake.validations) != 1 {
				t.Errorf("%d validations", len(fake.validations))
			}
			tools, err := echo.client.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 1 {
				t.Error(tools, err)
			}
		})
	}
}

func TestOtherErrorOfSidecheck(t *testing.T) {
	fake := newSidecheck()
	fake.verdict = always(nil, sidechecktest.Failure(codes.InvalidArgument, "SOME_REASON", nil))
	echo := newEcho(t, fake.Serve(t), sidecheck.OnUnavailableAllow, sidecheckmcp.Options{})
	_, _, err := echo.call(t, "echo")
	expectError(t, err, -32603, "Sidecheck could not validate the call: SOME_REASON")
	if len(echo.errors) != 1 {
		t.Errorf("told %v", echo.errors)
	}
}

// unknownTool is the error for a tool that is not registered.
func unknownTool() error {
	return sidechecktest.Failure(codes.NotFound, "UNKNOWN_TOOL", map[string]string{
		"json_rpc_error": `{"code":-32602,"message":"Unknown tool: tides"}`,
	})
}

func TestUnknownTool(t *testing.T) {
	fake := newSidecheck()
	fake.verdict = always(nil, unknownTool())
	echo := newEcho(t, fake.Serve(t), "", sidecheckmcp.Options{})
	_, _, err := echo.call(t, "tides")
	expectError(t, err, -32602, "Unknown tool: tides")
	if len(fake.registrations) != 1 || len(fake.validations) != 1 || len(echo.errors) != 0 {
		t.Errorf("%d registrations, %d validations, told %v",
			len(fake.registrations), len(fake.validations), echo.errors)
	}
}
