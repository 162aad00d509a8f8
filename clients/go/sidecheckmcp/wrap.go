// Package sidecheckmcp validates the tool calls of an MCP server of the official Go SDK, and the
// results of its handlers, with Sidecheck.
package sidecheckmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// Options are the options of [Wrap]. The zero value and a nil pointer are the defaults.
type Options struct {
	// Validation has the options of the validations. With repairs, the handler gets the
	// repaired arguments. Without a protocol version, that of the session applies.
	Validation sidecheck.Options
	// OnError is told what kept a call or a tool from being validated. Nil logs it with
	// [slog.Default]. It must not keep or change what it gets.
	OnError func(ctx context.Context, tool string, err error)
	// OnReport is told the invalid verdicts that are not enforced: their calls and results
	// pass. Nil logs the codes with [slog.Default].
	OnReport func(ctx context.Context, tool string, verdict *sidecheck.Verdict)
}

// Wrap makes server validate its tool calls with client: an invalid call does not reach the
// handler, and an invalid result does not reach the client of server. Call it before server runs
// and after other middleware is added.
//
// The tools of server are registered under name at the first call, and again when they have
// changed or Sidecheck has lost them. So Sidecheck need not be up before. Where it is not
// available, ClientOptions.OnUnavailable decides: the call passes, gets a result with isError, or
// fails with the JSON-RPC error -32603. Close client after server.
func Wrap(server *mcp.Server, client *sidecheck.Client, name string, options *Options) {
	if options == nil {
		options = &Options{}
	}
	validator := &validator{client: client, name: name, options: *options}
	if validator.options.OnError == nil {
		validator.options.OnError = logError
	}
	if validator.options.OnReport == nil {
		validator.options.OnReport = logReport
	}
	server.AddReceivingMiddleware(validator.middleware)
}

func logError(ctx context.Context, tool string, err error) {
	reason := "UNKNOWN"
	var failure *sidecheck.Error
	if errors.As(err, &failure) {
		reason = failure.Reason
	}
	slog.WarnContext(ctx, "sidecheck: not validated", "tool", tool, "reason", reason)
}

func logReport(ctx context.Context, tool string, verdict *sidecheck.Verdict) {
	var codes []string
	for _, violation := range verdict.Violations {
		codes = append(codes, violation.Code)
	}
	slog.WarnContext(ctx, "sidecheck: invalid and not enforced", "tool", tool, "codes", codes)
}

type validator struct {
	client  *sidecheck.Client
	name    string
	options Options
	tools   registeredTools
}

func (v *validator) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if call, isCall := request.(*mcp.CallToolRequest); isCall && call.Params != nil {
			return v.call(ctx, next, method, call)
		}
		result, err := next(ctx, method, request)
		if listed, isList := result.(*mcp.ListToolsResult); isList && err == nil {
			v.tools.compare(listed.Tools)
		}
		return result, err
	}
}

// call validates a call, makes it, and validates its result.
func (v *validator) call(
	ctx context.Context, next mcp.MethodHandler, method string, request *mcp.CallToolRequest,
) (mcp.Result, error) {
	tool, options := request.Params.Name, v.options.Validation
	if options.ProtocolVersion == "" {
		options.ProtocolVersion = sessionVersion(request)
	}
	list := func(ctx context.Context) ([]*mcp.Tool, error) { return listTools(ctx, next, request.Session) }
	verdict, err := v.validateCall(ctx, list, request.Params, &options)
	if err != nil {
		return v.failure(ctx, tool, err)
	}
	if repair := verdict.Repair; verdict.Enforced && repair != nil && repair.Valid {
		var repaired mcp.CallToolParamsRaw
		if err := repair.Payload.Decode(&repaired); err != nil {
			return v.failure(ctx, tool, err)
		}
		params := *request.Params
		params.Arguments = repaired.Arguments
		changed := *request
		changed.Params = &params
		request = &changed
	} else if !verdict.Valid {
		if verdict.Enforced {
			return v.rejection(ctx, tool, verdict)
		}
		v.options.OnReport(ctx, tool, verdict)
	}

	result, err := next(ctx, method, request)
	called, isResult := result.(*mcp.CallToolResult)
	if err != nil || !isResult || called == nil || called.NeedsInput() {
		return result, err
	}
	target := sidecheck.RegisteredTool{Server: v.name, Name: tool}
	verdict, err = v.client.ValidateCallResult(ctx, target, called, &options)
	switch {
	case err != nil:
		return v.failure(ctx, tool, err)
	case verdict.Valid:
		return result, nil
	case !verdict.Enforced:
		v.options.OnReport(ctx, tool, verdict)
		return result, nil
	}
	return v.rejection(ctx, tool, verdict)
}

// validateCall returns the verdict on a call. The tools are registered before if they are not,
// and once more if Sidecheck does not know one that the server lists.
func (v *validator) validateCall(
	ctx context.Context, list listFunc, params *mcp.CallToolParamsRaw, options *sidecheck.Options,
) (*sidecheck.Verdict, error) {
	renewed, err := v.tools.register(ctx, v, list, false)
	if err != nil {
		return v.client.Fallback(err)
	}
	target := sidecheck.RegisteredTool{Server: v.name}
	for {
		if err := v.tools.rejection(params.Name); err != nil {
			return nil, err
		}
		verdict, err := v.client.ValidateCall(ctx, target, params, options)
		var failure *sidecheck.Error
		if !errors.As(err, &failure) || renewed || !v.tools.has(params.Name) ||
			(failure.Reason != "UNKNOWN_TOOL" && failure.Reason != "NOT_FOUND") {
			return verdict, err
		}
		if renewed, err = v.tools.register(ctx, v, list, true); err != nil {
			return v.client.Fallback(err)
		}
	}
}

// rejection returns what the client gets in place of an invalid call or result.
func (v *validator) rejection(
	ctx context.Context, tool string, verdict *sidecheck.Verdict,
) (mcp.Result, error) {
	switch {
	case len(verdict.CallToolResult) > 0:
		var result mcp.CallToolResult
		if err := verdict.CallToolResult.Decode(&result); err != nil {
			return v.failure(ctx, tool, err)
		}
		return &result, nil
	case len(verdict.JSONRPCError) > 0:
		return nil, v.rpcError(ctx, tool, verdict.JSONRPCError)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: verdict.ToolErrorText}}, IsError: true,
	}, nil
}

// failure returns the JSON-RPC error for a call without a verdict, and tells it to OnError.
func (v *validator) failure(ctx context.Context, tool string, err error) (mcp.Result, error) {
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	var failure *sidecheck.Error
	if errors.As(err, &failure) && len(failure.JSONRPCError()) > 0 {
		return nil, v.rpcError(ctx, tool, failure.JSONRPCError())
	}
	v.options.OnError(ctx, tool, err)
	message := "Sidecheck cannot validate the call"
	var unavailable *sidecheck.UnavailableError
	var rejected *rejectedError
	switch {
	case errors.As(err, &unavailable):
		message = "Sidecheck is unavailable: " + unavailable.Err.Reason
	case errors.As(err, &rejected):
		message = rejected.Error()
	case failure != nil:
		message += ": " + failure.Reason
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: message}
}

// rpcError returns the JSON-RPC error in text.
func (v *validator) rpcError(ctx context.Context, tool string, text sidecheck.JSON) error {
	var decoded jsonrpc.Error
	if err := text.Decode(&decoded); err != nil {
		v.options.OnError(ctx, tool, err)
		return &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "Sidecheck sent no JSON-RPC error",
		}
	}
	return &decoded
}

// sessionVersion returns the protocol version of a request: that of its metadata, which
// stateless sessions have, or that of the session; empty if it is unknown.
func sessionVersion(request *mcp.CallToolRequest) string {
	if version, isText := request.Params.Meta[mcp.MetaKeyProtocolVersion].(string); isText {
		return version
	}
	if request.Session == nil || request.Session.InitializeParams() == nil {
		return ""
	}
	switch version := request.Session.InitializeParams().ProtocolVersion; version {
	// The SDK tells only the version that the client asked for. It accepts these, and
	// negotiates another one in place of any other.
	case "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28":
		return version
	}
	return ""
}

// rejectedError says that a tool cannot be validated because its definition was rejected.
type rejectedError struct {
	tool      string
	violation string
}

func (e *rejectedError) Error() string {
	return fmt.Sprintf("Sidecheck rejected the definition of the tool %q: %s", e.tool, e.violation)
}

// toolText returns the definition of tool as JSON text.
func toolText(tool *mcp.Tool) (string, error) {
	text, err := json.Marshal(tool)
	return string(text), err
}
