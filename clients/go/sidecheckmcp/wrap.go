// Package sidecheckmcp validates the tool calls of MCP servers that are built with the
// official Go SDK, github.com/modelcontextprotocol/go-sdk.
//
//	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0.0"}, nil)
//	server.AddTool(forecast, handleForecast)
//	sidecheckmcp.Wrap(server, client, "weather", nil)
package sidecheckmcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// Options are the options of a wrapper. Zero values are the defaults.
type Options struct {
	// Validation are the options of the validation of calls. If they ask for repairs, the
	// handler of the tool gets the repaired params where these are valid.
	Validation sidecheck.ValidationOptions
	// OnError is told what kept a call from being validated, and of a
	// [*sidecheck.ToolsRejectedError], whose tools cannot be called. Messages of errors may
	// have values of the payload. Nil logs the reason with [slog.Default].
	OnError func(ctx context.Context, err error)
	// OnReport is told of a verdict on a call of tool that does not decide: one that is
	// invalid and not enforced, or that stands in for a server that did not answer. Nil logs
	// the codes with [slog.Default].
	OnReport func(ctx context.Context, tool string, verdict *sidecheck.Verdict)
}

// Wrap makes client validate the tool calls of server and their results. The tools are
// registered under name, at the first call and when they have changed; so Sidecheck need not
// be up before. With nil, options are the defaults.
//
// An invalid call does not reach the handler of the tool: it gets a result with isError for
// the model, or a JSON-RPC error. An invalid result is replaced by one with isError. A call
// that could not be validated fails with the JSON-RPC error -32603, unless
// [sidecheck.ClientOptions.OnUnavailable] says otherwise; so does a call of a tool whose
// definition Sidecheck rejected.
func Wrap(server *mcp.Server, client *sidecheck.Client, name string, options *Options) {
	server.AddReceivingMiddleware(Middleware(client, name, options))
}

// Middleware returns what [Wrap] adds to a server, for one with further middleware.
func Middleware(client *sidecheck.Client, name string, options *Options) mcp.Middleware {
	if options == nil {
		options = &Options{}
	}
	wrapper := &wrapper{
		client:   client,
		server:   name,
		options:  options.Validation,
		onError:  options.OnError,
		onReport: options.OnReport,
	}
	// All tools of the server are registered, so an unknown one is an error.
	wrapper.options.OnUnknownTool = sidecheck.OnUnknownToolError
	if wrapper.onError == nil {
		wrapper.onError = logError
	}
	if wrapper.onReport == nil {
		wrapper.onReport = logReport
	}
	wrapper.registrar = newRegistrar(client, name, wrapper.onError)
	return wrapper.middleware
}

// wrapper validates the tool calls of one MCP server and the results of its handlers.
type wrapper struct {
	client    *sidecheck.Client
	server    string
	options   sidecheck.ValidationOptions
	onError   func(context.Context, error)
	onReport  func(context.Context, string, *sidecheck.Verdict)
	registrar *registrar
	versions  sessionVersions
}

func (w *wrapper) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if call, ok := request.(*mcp.CallToolRequest); ok && call.Params != nil {
			return w.callTool(ctx, &toolCall{
				request: call, version: w.versions.of(call), next: next,
			})
		}
		result, err := next(ctx, method, request)
		switch result := result.(type) {
		case *mcp.InitializeResult:
			if err == nil {
				w.versions.initialized(request, result)
			}
		case *mcp.ListToolsResult:
			if definitions, failure := encodeTools(result); err == nil && failure == nil {
				w.registrar.observe(definitions)
			}
		}
		return result, err
	}
}

// toolCall is one tools/call request.
type toolCall struct {
	request *mcp.CallToolRequest
	// version is the protocol version of the connection, empty if unknown.
	version string
	next    mcp.MethodHandler
	// isRenewed reports whether the tools were registered again for this call.
	isRenewed bool
}

// run calls the handler of the tool.
func (c *toolCall) run(ctx context.Context) (mcp.Result, error) {
	return c.next(ctx, "tools/call", c.request)
}

func (w *wrapper) callTool(ctx context.Context, call *toolCall) (mcp.Result, error) {
	options := w.options
	if options.ProtocolVersion == "" {
		options.ProtocolVersion = call.version
	}
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
	} else if verdict.Err() != nil {
		return replacement(verdict)
	}
	returned, err := call.run(ctx)
	result, ok := returned.(*mcp.CallToolResult)
	if err != nil || !ok || result == nil || result.NeedsInput() || isStandIn(verdict) {
		return returned, err
	}
	verdict, err = w.verdict(ctx, call, func() (*sidecheck.Verdict, error) {
		// The repairs of arguments are none of a result.
		return w.client.ValidateCallResult(ctx,
			sidecheck.RegisteredTool{Server: w.server, Name: call.request.Params.Name}, result,
			&sidecheck.ValidationOptions{
				ProtocolVersion: options.ProtocolVersion,
				AssertFormats:   options.AssertFormats,
				HideValues:      options.HideValues,
			})
	})
	if err != nil {
		return nil, err
	}
	if verdict.Err() != nil {
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
		verdict, err = w.client.FallBack(err)
	}
	if err != nil {
		return nil, w.protocolError(ctx, err)
	}
	if isStandIn(verdict) || !verdict.Valid && !verdict.Enforced {
		w.onReport(ctx, call.request.Params.Name, verdict)
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
		failure.Reason != "UNKNOWN_TOOL" && failure.Reason != "NOT_FOUND" {
		return verdict, err
	}
	call.isRenewed = true
	renewed, listErr := w.registrar.registerAgain(ctx, call, registered)
	switch {
	case listErr != nil:
		return nil, listErr
	case renewed == nil:
		return nil, err
	}
	if err := renewed.check(call); err != nil {
		return nil, err
	}
	return validate()
}

// isStandIn reports whether the policy of the client made verdict, because no server answered.
func isStandIn(verdict *sidecheck.Verdict) bool {
	return slices.ContainsFunc(verdict.Violations, func(violation sidecheck.Violation) bool {
		return violation.Code == sidecheck.CodeUnavailable
	})
}

// logError logs err by its reason: its message may have values of the payload, unless it is
// about definitions.
func logError(ctx context.Context, err error) {
	var rejected *sidecheck.ToolsRejectedError
	var failure *sidecheck.Error
	switch {
	case errors.As(err, &rejected):
		slog.ErrorContext(ctx, "Sidecheck rejected tools", "error", err.Error())
	case errors.As(err, &failure):
		slog.WarnContext(ctx, "Sidecheck did not validate a call", "reason", failure.Reason)
	default:
		slog.WarnContext(ctx, "Sidecheck did not validate a call")
	}
}

// logReport logs a verdict that does not decide, by its codes.
func logReport(ctx context.Context, tool string, verdict *sidecheck.Verdict) {
	var reported []string
	for _, violation := range verdict.Violations {
		if !slices.Contains(reported, violation.Code) {
			reported = append(reported, violation.Code)
		}
	}
	slog.WarnContext(ctx, "Sidecheck verdict not enforced", "tool", tool, "codes", reported)
}
