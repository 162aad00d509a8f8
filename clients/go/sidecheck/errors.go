package sidecheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
)

// Error says that a request has no result, and why. All errors of a server contain one:
//
//	var failure *sidecheck.Error
//	if errors.As(err, &failure) && failure.Reason == ReasonUnknownTool { … }
type Error struct {
	// Reason is a stable reason in upper snake case, for example [ReasonUnknownTool]; for errors of
	// gRPC itself it is the name of the status code, for example DEADLINE_EXCEEDED.
	Reason string
	// Message is for people.
	Message string
	// Metadata has the variable parts of the message by name.
	Metadata map[string]string
	// Status is the status code.
	Status codes.Code
	// RetryAfter is the time after which the server suggests to try again; 0 if it did not.
	RetryAfter time.Duration
}

// Error returns the reason and the message, with a space in place of each character that is not
// printable: a server may be hostile. Message is as it was sent.
func (e *Error) Error() string { return makePrintable(e.Reason + ": " + e.Message) }

// Is says whether the deadline of the call has passed, for [context.DeadlineExceeded]: that of its
// context, or that of the client.
func (e *Error) Is(target error) bool {
	return target == context.DeadlineExceeded && e.Status == codes.DeadlineExceeded
}

// JSONRPCError returns the error of the JSON-RPC response to send for a call that cannot be
// validated, such as one of an unknown tool. It is empty if there is none.
func (e *Error) JSONRPCError() JSON { return JSON(e.Metadata["json_rpc_error"]) }

// UnavailableError says that no Sidecheck server answered, after all retries that the deadline
// allows. Either the reason is SHUTTING_DOWN or OVERLOADED, or the status has no reason of
// Sidecheck: a connection, a proxy or gRPC itself ended the call. ClientOptions.OnUnavailable
// applies to this error only. OVERLOADED is not retried.
type UnavailableError struct {
	// Err has the reason.
	Err *Error
}

// Error returns the reason and the message.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns the [*Error].
func (e *UnavailableError) Unwrap() error { return e.Err }

// InvalidResponseError says that a server answered, but not with what the API defines. The
// reason is INVALID_RESPONSE. ClientOptions.OnUnavailable does not apply.
type InvalidResponseError struct {
	// Err has the fault as its message.
	Err *Error
}

// Error returns the reason and the message.
func (e *InvalidResponseError) Error() string { return e.Err.Error() }

// Unwrap returns the [*Error].
func (e *InvalidResponseError) Unwrap() error { return e.Err }

// StreamClosedError says that a stream ended before all outcomes had arrived.
type StreamClosedError struct {
	// Err has the reason.
	Err *Error
	// Unanswered are the ids of the items that were accepted and have no outcome, in order.
	// They are not retried; the caller may send them in another stream.
	Unanswered []string

	// cause is the context's error of a stream that the caller cancelled, or the kind of Err.
	cause error
}

// Error returns the reason, the message and how many items have no outcome.
func (e *StreamClosedError) Error() string {
	return fmt.Sprintf("%s (items without an outcome: %d)", e.Err, len(e.Unanswered))
}

// Unwrap returns the [*Error] and its kind, or [context.Canceled] if the caller cancelled.
func (e *StreamClosedError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.cause}
}

// StreamUnavailableError says that a stream ended because its server stopped, was lost or did
// not respond in time. It contains a [*StreamClosedError] and an [*UnavailableError].
type StreamUnavailableError struct {
	// Err has the reason.
	Err *Error
	// Unanswered are the ids of the items that were accepted and have no outcome, in order.
	Unanswered []string
}

// Error returns the reason, the message and how many items have no outcome.
func (e *StreamUnavailableError) Error() string { return e.closed().Error() }

// Unwrap returns the [*StreamClosedError] and the [*UnavailableError].
func (e *StreamUnavailableError) Unwrap() []error {
	return []error{e.closed(), &UnavailableError{Err: e.Err}}
}

func (e *StreamUnavailableError) closed() *StreamClosedError {
	return &StreamClosedError{Err: e.Err, Unanswered: e.Unanswered}
}

// ToolsRejectedError says that tools were not registered because their definitions have errors.
// All others were registered. The reason is TOOLS_REJECTED.
type ToolsRejectedError struct {
	// Err describes the first error of each tool that was rejected, for up to ten of them.
	Err *Error
	// Registration has the outcomes of all tools.
	Registration *Registration
}

// Error returns the reason and the message, whose lines are printable.
func (e *ToolsRejectedError) Error() string { return e.Err.Reason + ": " + e.Err.Message }

// Unwrap returns the [*Error].
func (e *ToolsRejectedError) Unwrap() error { return e.Err }

func invalidResponse(format string, arguments ...any) error {
	return &InvalidResponseError{Err: &Error{
		Reason:  ReasonInvalidResponse,
		Message: fmt.Sprintf(format, arguments...),
		Status:  codes.Internal,
	}}
}

func isInvalidResponse(err error) bool {
	var invalid *InvalidResponseError
	return errors.As(err, &invalid)
}

func clientClosed() error {
	return &Error{
		Reason: ReasonClientClosed, Message: "the client was closed", Status: codes.Canceled,
	}
}

// itemTooLarge returns the error for an item of size bytes, which fits in no message.
func itemTooLarge(size int, limits *Limits) error {
	return &Error{
		Reason: ReasonLimitExceeded,
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

// itemNotEncodable returns the error for an item of a stream that cannot be encoded.
func itemNotEncodable(err error) error {
	return &Error{
		Reason:   ReasonInvalidRequest,
		Message:  fmt.Sprintf("cannot encode the item: %v", err),
		Metadata: map[string]string{"field": "subject"},
		Status:   codes.InvalidArgument,
	}
}

// toolsRejected returns the error for registration, nil if no tool was rejected.
func toolsRejected(registration *Registration) error {
	var lines []string
	for index, outcome := range registration.Outcomes {
		if outcome.Action != ActionRejected {
			continue
		}
		line := fmt.Sprintf("tools[%d]", index)
		if outcome.Name != "" {
			line += " " + quote(outcome.Name)
		}
		var violations []string
		for _, violation := range outcome.Violations {
			if violation.Severity == SeverityError {
				violations = append(violations, violation.String())
			}
		}
		if len(violations) > 0 {
			line += ": " + violations[0]
		}
		if len(violations) > 1 {
			line += fmt.Sprintf(" (and %d more)", len(violations)-1)
		}
		lines = append(lines, line)
	}
	if lines == nil {
		return nil
	}
	total := len(registration.Outcomes)
	title := fmt.Sprintf("%d of %d tools rejected", len(lines), total)
	if len(lines) < total {
		title += ", the others are unaffected"
	}
	return &ToolsRejectedError{
		Err: &Error{
			Reason:  ReasonToolsRejected,
			Message: listLines(title, lines, false),
			Metadata: map[string]string{
				"rejected": fmt.Sprint(len(lines)), "tools": fmt.Sprint(total),
			},
			Status: codes.InvalidArgument,
		},
		Registration: registration,
	}
}
