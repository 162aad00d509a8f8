package sidecheckmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// replacement returns the result that replaces an invalid call or result, or the JSON-RPC error
// if the fault is one of the protocol.
func replacement(verdict *sidecheck.Verdict) (mcp.Result, error) {
	if verdict.CallToolResult != nil {
		var result mcp.CallToolResult
		if err := json.Unmarshal(verdict.CallToolResult, &result); err != nil {
			return nil, internalError("Sidecheck sent a result that cannot be read")
		}
		return &result, nil
	}
	if verdict.JSONRPCError != nil {
		return nil, sentError(verdict.JSONRPCError)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: verdict.ToolErrorText}},
		IsError: true,
	}, nil
}

// protocolError returns the JSON-RPC error for a call that could not be validated, and tells
// the callback.
func (w *wrapper) protocolError(ctx context.Context, err error) error {
	var sent *jsonrpc.Error
	if errors.As(err, &sent) {
		return sent
	}
	var failure *sidecheck.Error
	if !errors.As(err, &failure) {
		if ctx.Err() == nil {
			w.onError(ctx, err)
		}
		return internalError("Sidecheck could not validate the call")
	}
	if text := failure.JSONRPCError(); text != nil {
		return sentError(text)
	}
	w.onError(ctx, err)
	if errors.Is(err, sidecheck.ErrUnavailable) {
		return internalError("Sidecheck is unavailable: %s", failure.Reason)
	}
	return internalError("Sidecheck could not validate the call: %s", failure.Reason)
}

// sentError returns the JSON-RPC error in text, which Sidecheck sent.
func sentError(text json.RawMessage) error {
	var sent jsonrpc.Error
	if err := json.Unmarshal(text, &sent); err != nil {
		return internalError("Sidecheck sent an error that cannot be read")
	}
	return &sent
}

func internalError(format string, values ...any) error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf(format, values...),
	}
}

// repair replaces the params of the call with repaired ones.
func (c *toolCall) repair(payload json.RawMessage) error {
	var params mcp.CallToolParamsRaw
	if err := json.Unmarshal(payload, &params); err != nil {
		return internalError("Sidecheck sent params that cannot be read")
	}
	request := *c.request
	request.Params = &params
	c.request = &request
	return nil
}
