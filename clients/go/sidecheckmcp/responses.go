package sidecheckmcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// replacement returns the result that replaces an invalid call or result, or the JSON-RPC error
// if the fault is one of the protocol.
func replacement(verdict *sidecheck.Verdict) (mcp.Result, error) {
	if len(verdict.CallToolResult) > 0 {
		var result mcp.CallToolResult
		if err := verdict.CallToolResult.Decode(&result); err != nil {
			return nil, internalError("Sidecheck sent a result that cannot be read")
		}
		return &result, nil
	}
	if len(verdict.JSONRPCError) > 0 {
		return nil, sentError(verdict.JSONRPCError)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: verdict.ToolErrorText}},
		IsError: true,
	}, nil
}

// protocolError returns the error to send for a call that could not be validated, and tells
// OnError.
func (w *wrapper) protocolError(ctx context.Context, err error) error {
	var sent *jsonrpc.Error
	if errors.As(err, &sent) || errors.Is(err, context.Canceled) {
		return err
	}
	var failure *sidecheck.Error
	if errors.As(err, &failure) && len(failure.JSONRPCError()) > 0 {
		return sentError(failure.JSONRPCError())
	}
	w.options.OnError(ctx, err)
	var unavailable *sidecheck.UnavailableError
	switch {
	case errors.As(err, &unavailable):
		return internalError("Sidecheck is unavailable: %s", unavailable.Err.Reason)
	case failure != nil:
		return internalError("Sidecheck could not validate the call: %s", failure.Reason)
	}
	return internalError("Sidecheck could not validate the call")
}

// sentError returns the JSON-RPC error in text, which Sidecheck sent.
func sentError(text sidecheck.JSON) error {
	var sent jsonrpc.Error
	if err := text.Decode(&sent); err != nil {
		return internalError("Sidecheck sent an error that cannot be read")
	}
	return &sent
}

func internalError(format string, values ...any) error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf(format, values...),
	}
}

// repair replaces the arguments of the call with those in repaired params.
func (c *toolCall) repair(payload sidecheck.JSON) error {
	var repaired mcp.CallToolParamsRaw
	if err := payload.Decode(&repaired); err != nil {
		return internalError("Sidecheck sent params that cannot be read")
	}
	request, params := *c.request, *c.request.Params
	params.Arguments = repaired.Arguments
	request.Params = &params
	c.request = &request
	return nil
}
