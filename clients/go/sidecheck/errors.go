package sidecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
)

// Kinds of [*Error], for [errors.Is].
var (
	// ErrUnavailable means that no Sidecheck server answered, after all retries that the
	// deadline allowed: the reason is SHUTTING_DOWN or OVERLOADED, or the name of the status
	// code with which a connection, a proxy or gRPC itself ended the call.
	// [ClientOptions.OnUnavailable] applies to these errors only. OVERLOADED is not retried.
	ErrUnavailable = errors.New("no Sidecheck server answered")

	// ErrInvalidResponse means that a server answered, but not with what the API defines.
	// The reason is INVALID_RESPONSE.
	ErrInvalidResponse = errors.New("the response is not what the API defines")

	// ErrClientClosed means that the client was closed, before the call or during it. The
	// reason is CLIENT_CLOSED.
	ErrClientClosed = errors.New("the client was closed")
)

// Error is a request that has no result, with the reason. It matches
// [context.DeadlineExceeded] if the deadline passed.
type Error struct {
	// Reason is a stable reason in upper snake case, for example UNKNOWN_TOOL. For errors
	// of gRPC itself it is the name of the status code.
	Reason string
	// Message describes the error, for people.
	Message string
	// Metadata holds the variable parts of the message by name.
	Metadata map[string]string
	// Status is the gRPC status code.
	Status codes.Code
	// RetryAfter is the time after which the server suggests to try again, 0 if it does not.
	RetryAfter time.Duration

	// kind is one of the kinds above, or nil.
	kind error
}

// Error returns the reason and the message.
func (e *Error) Error() string { return e.Reason + ": " + e.Message }

// Is reports whether target is the kind of the error.
func (e *Error) Is(target error) bool {
	if target == context.DeadlineExceeded {
		return e.kind == ErrUnavailable && e.Status == codes.DeadlineExceeded
	}
	return target != nil && target == e.kind
}

// StatusName returns the name of the gRPC status code, for example NOT_FOUND.
func (e *Error) StatusName() string { return statusName(e.Status) }

// JSONRPCError returns the error of the JSON-RPC response to send, as JSON text. Nil unless
// the fault is one of the MCP client, for example a call of an unknown tool.
func (e *Error) JSONRPCError() json.RawMessage {
	return receivedJSON([]byte(e.Metadata["json_rpc_error"]))
}

// StreamClosedError means that a stream ended before it was finished or before all outcomes
// had arrived. It wraps the cause: an [*Error], which is [ErrUnavailable] if the server
// stopped, was lost or did not respond in time, or the error of the stream's context.
type StreamClosedError struct {
	// Unanswered lists the ids of the items without an outcome, in order. They are not
	// retried; the caller may send them again in another stream.
	Unanswered []string

	cause error
}

// Error returns the cause and the number of items without an outcome.
func (e *StreamClosedError) Error() string {
	return fmt.Sprintf("%v (%d items have no result)", e.cause, len(e.Unanswered))
}

// Unwrap returns the cause.
func (e *StreamClosedError) Unwrap() error { return e.cause }

// ToolsRejectedError means that tools were not registered, because their definitions have
// errors. All others were registered. It wraps an [*Error] with the reason TOOLS_REJECTED.
type ToolsRejectedError struct {
	// Registration has the outcomes of all tools.
	Registration *Registration
}

// Error describes the first error of each tool that was rejected, for up to ten of them.
func (e *ToolsRejectedError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the [*Error].
func (e *ToolsRejectedError) Unwrap() error {
	outcomes := e.Registration.Outcomes
	var rejected []string
	for index, outcome := range outcomes {
		if outcome.Action != ActionRejected {
			continue
		}
		line := fmt.Sprintf("tools[%d]", index)
		if outcome.Name != "" {
			line += fmt.Sprintf(" %q", outcome.Name)
		}
		if lines := describeErrors(outcome.Violations); len(lines) > 0 {
			line += ": " + lines[0]
			if len(lines) > 1 {
				line += fmt.Sprintf(" (and %d more)", len(lines)-1)
			}
		}
		rejected = append(rejected, line)
	}
	title := fmt.Sprintf("%d of %d tools rejected", len(rejected), len(outcomes))
	if len(rejected) < len(outcomes) {
		title += ", the others are unaffected"
	}
	return &Error{
		Reason:  "TOOLS_REJECTED",
		Message: listLines(title, rejected, false),
		Metadata: map[string]string{
			"rejected": fmt.Sprint(len(rejected)), "tools": fmt.Sprint(len(outcomes)),
		},
		Status: codes.InvalidArgument,
	}
}

func invalidResponse(format string, values ...any) *Error {
	return &Error{
		Reason:  "INVALID_RESPONSE",
		Message: fmt.Sprintf(format, values...),
		Status:  codes.Internal,
		kind:    ErrInvalidResponse,
	}
}

func clientClosed() *Error {
	return &Error{
		Reason:  "CLIENT_CLOSED",
		Message: "the client was closed",
		Status:  codes.Canceled,
		kind:    ErrClientClosed,
	}
}

// tooLarge returns the error for an item of size bytes, too large for a message to the server.
func tooLarge(size int, limits *Limits) *Error {
	return &Error{
		Reason: "LIMIT_EXCEEDED",
		Message: fmt.Sprintf("item too large: %d bytes exceed the limit of %d (message_bytes)",
			size, limits.MessageBytes),
		Metadata: map[string]string{
			"bound": "message_bytes",
			"limit": fmt.Sprint(limits.MessageBytes),
			"found": fmt.Sprint(size),
		},
		Status: codes.ResourceExhausted,
	}
}

// notEncodable returns the error for an item of a stream that cannot be encoded.
func notEncodable(err error) *Error {
	return &Error{
		Reason:   "INVALID_REQUEST",
		Message:  fmt.Sprintf("cannot encode the item: %v", err),
		Metadata: map[string]string{"field": "subject"},
		Status:   codes.InvalidArgument,
	}
}

// statusName returns the name of a status code in the specification of gRPC; Code.String is
// that of Go.
func statusName(status codes.Code) string { return code.Code(status).String() }
