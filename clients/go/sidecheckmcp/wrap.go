// Package sidecheckmcp validates the tool calls of an MCP server of the official Go SDK, and the
// results of its handlers, with Sidecheck.
package sidecheckmcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// Options are the options of [Wrap]. The zero value and a nil pointer are the defaults.
type Options struct {
	// Validation has the options of the validation of calls. With repairs, the handler gets the
	// repaired arguments. Without a protocol version, that of the session applies. OnUnknownTool
	// does not: all tools of the server are registered, so that an unknown one is an error.
	Validation sidecheck.Options
	// OnError is told what kept a call from being validated, and of a
	// [*sidecheck.ToolsRejectedError], whose tools cannot be called. Messages of errors may have
	// values of the payload. Nil logs the reason with [slog.Default].
	OnError func(ctx context.Context, err error)
	// OnReport is told of a verdict on a call of tool that does not decide: one that is invalid
	// and not enforced, or that stands in for a server that did not answer. Nil logs the codes
	// with [slog.Default].
	OnReport func(ctx context.Context, tool string, verdict *sidecheck.Verdict)
}

// Wrap makes server validate its tool calls with client: an invalid call does not reach the
// handler, and an invalid result does not reach the client of server. Call it before server runs
// and after other middleware is added.
//
// The tools of server are registered under name at the first call, and again when they have
// changed or Sidecheck has lost them. So Sidecheck need not be up before. Where it is not
// available, ClientOptions.OnUnavailable decides: the call passes, gets a result with isError, or
// fails with the JSON-RPC error -32603, as calls of a tool whose definition Sidecheck rejected
// do. Close client after server.
func Wrap(server *mcp.Server, client *sidecheck.Client, name string, options *Options) {
	wrapper := &wrapper{client: client, server: name}
	if options != nil {
		wrapper.options = *options
	}
	wrapper.options.Validation.OnUnknownTool = sidecheck.OnUnknownToolError
	if wrapper.options.OnError == nil {
		wrapper.options.OnError = logError
	}
	if wrapper.options.OnReport == nil {
		wrapper.options.OnReport = logReport
	}
	wrapper.registrar = newRegistrar(client, name, wrapper.options.OnError)
	server.AddReceivingMiddleware(wrapper.middleware)
}

// wrapper validates the tool calls of one MCP server and the results of its handlers.
type wrapper struct {
	client    *sidecheck.Client
	server    string
	options   Options
	registrar *registrar
	versions  sessionVersions
}

func (w *wrapper) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if call, isCall := request.(*mcp.CallToolRequest); isCall && call.Params != nil {
			return w.callTool(ctx, &toolCall{request: call, version: w.versions.of(call), next: next})
		}
		result, err := next(ctx, method, request)
		if err != nil {
			return result, err
		}
		switch result := result.(type) {
		case *mcp.InitializeResult:
			w.versions.initialized(request, result)
		case *mcp.ListToolsResult:
			// A definition that cannot be encoded cannot be sent either.
			if definitions, err := encodeTools(result); err == nil {
				w.registrar.observe(definitions)
			}
		}
		return result, nil
	}
}

// toolCall is one tools/call request.
type toolCall struct {
	request *mcp.CallToolRequest
	// version is the protocol version that applies; empty if unknown.
	version string
	next    mcp.MethodHandler
	// isRenewed says whether the tools were registered again for this call.
	isRenewed bool
}

func (c *toolCall) tool() string { return c.request.Params.Name }

// callTool validates a call, makes it, and validates its result.
func (w *wrapper) callTool(ctx context.Context, call *toolCall) (mcp.Result, error) {
	options := w.options.Validation
	if options.ProtocolVersion != "" {
		call.version = options.ProtocolVersion
	}
	options.ProtocolVersion = call.version
	verdict, err := w.verdict(ctx, call, func() (*sidecheck.Verdict, error) {
		return w.client.ValidateCall(
			ctx, sidecheck.RegisteredTool{Server: w.server}, call.request.Params, &options)
	})
	if err != nil {
		return nil, err
	}
	if repair := verdict.Repair; verdict.Enforced && repair != nil && repair.Valid {
		if err := call.repair(repair.Payload); err != nil {
			return nil, err
		}
	} else if verdict.Enforced && !verdict.Valid {
		return replacement(verdict)
	}
	returned, err := call.next(ctx, "tools/call", call.request)
	result, isResult := returned.(*mcp.CallToolResult)
	if err != nil || !isResult || result == nil || result.NeedsInput() || isStandIn(verdict) {
		return returned, err
	}
	verdict, err = w.verdict(ctx, call, func() (*sidecheck.Verdict, error) {
		// The repairs of arguments are none of a result.
		return w.client.ValidateCallResult(ctx,
			sidecheck.RegisteredTool{Server: w.server, Name: call.tool()}, result,
			&sidecheck.Options{
				ProtocolVersion: call.version,
				AssertFormats:   options.AssertFormats,
				HideValues:      options.HideValues,
			})
	})
	if err != nil {
		return nil, err
	}
	if verdict.Enforced && !verdict.Valid {
		return replacement(verdict)
	}
	return returned, nil
}

// verdict returns the verdict of validate, with the policy of the client applied, or the error
// to send.
func (w *wrapper) verdict(
	ctx context.Context, call *toolCall, validate func() (*sidecheck.Verdict, error),
) (*sidecheck.Verdict, error) {
	verdict, err := w.validateRegistered(ctx, call, validate)
	if err != nil {
		// That of the registration: validate has applied the policy.
		failure := err
		if verdict, err = w.client.Fallback(failure); err != nil {
			return nil, w.protocolError(ctx, err)
		}
		w.options.OnError(ctx, failure)
	}
	if isStandIn(verdict) || (!verdict.Valid && !verdict.Enforced) {
		w.options.OnReport(ctx, call.tool(), verdict)
	}
	return verdict, nil
}

// validateRegistered returns the verdict of validate, with the tools registered. Sidecheck may
// have lost them, by a restart with an empty registry: a tool that it does not know and that
// the server lists is registered again, once per call.
func (w *wrapper) validateRegistered(
	ctx context.Context, call *toolCall, validate func() (*sidecheck.Verdict, error),
) (*sidecheck.Verdict, error) {
	registered, err := w.registrar.register(ctx, call)
	if err != nil {
		return nil, err
	}
	if err := registered.check(call); err != nil {
		return nil, err
	}
	verdict, err := validate()
	var failure *sidecheck.Error
	if call.isRenewed || !errors.As(err, &failure) ||
		(failure.Reason != sidecheck.ReasonUnknownTool && failure.Reason != "NOT_FOUND") {
		return verdict, err
	}
	call.isRenewed = true
	renewed, failed := w.registrar.registerAgain(ctx, call, registered)
	if failed != nil {
		return nil, failed
	}
	if renewed == nil {
		return nil, err
	}
	if err := renewed.check(call); err != nil {
		return nil, err
	}
	return validate()
}

// isStandIn says whether the policy of the client made verdict, because no server answered.
func isStandIn(verdict *sidecheck.Verdict) bool {
	return slices.ContainsFunc(verdict.Violations, func(violation sidecheck.Violation) bool {
		return violation.Code == sidecheck.CodeUnavailable
	})
}

// logError logs err by its reason, and the cause of a failed connection, which the client wrote: the
// message of a server may have values of the payload.
func logError(ctx context.Context, err error) {
	reason := "UNKNOWN"
	var failure *sidecheck.Error
	if errors.As(err, &failure) {
		reason = failure.Reason
	}
	attributes := []any{"reason", reason}
	var unavailable *sidecheck.UnavailableError
	if errors.As(err, &unavailable) && unavailable.Err.Metadata["cause"] != "" {
		attributes = append(attributes, "cause", unavailable.Err.Message)
	}
	slog.WarnContext(ctx, "sidecheck: not validated", attributes...)
}

// logReport logs a verdict that does not decide, by its codes.
func logReport(ctx context.Context, tool string, verdict *sidecheck.Verdict) {
	var codes []string
	seen := map[string]bool{}
	for _, violation := range verdict.Violations {
		if !seen[violation.Code] {
			seen[violation.Code] = true
			codes = append(codes, violation.Code)
		}
	}
	slog.WarnContext(ctx, "sidecheck: not enforced", "tool", tool, "codes", codes)
}
