package sidecheck

import (
	"errors"
	"regexp"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// domain is that of the ErrorInfo messages whose reasons are Sidecheck's.
const domain = "sidecheck"

// unavailableCodes are the codes that gRPC libraries and proxies set by themselves. Without a
// reason of Sidecheck they mean that no Sidecheck server answered. All other codes are only
// set by an application (gRPC, doc/statuscodes.md). HTTP statuses and the codes of RST_STREAM
// become some of them (doc/http-grpc-status-mapping.md, doc/PROTOCOL-HTTP2.md).
var unavailableCodes = map[codes.Code]bool{
	codes.Canceled:          true,
	codes.Unknown:           true,
	codes.DeadlineExceeded:  true,
	codes.PermissionDenied:  true,
	codes.ResourceExhausted: true,
	codes.Unimplemented:     true,
	codes.Internal:          true,
	codes.Unavailable:       true,
	codes.Unauthenticated:   true,
}

// tooLarge finds the messages for a request that a server or proxy finds too large: those of
// gRPC for C++, Go and Java, and HTTP status 413 in the words of gRPC for C++ and Go. Whoever
// writes the payload can bring these about, so they must never pass for an unavailable server.
var tooLarge = regexp.MustCompile(`message larger than max|message exceeds maximum size` +
	`|http2 header with status: 413|HTTP status code received from server: 413`)

// notOneResponse finds how gRPC reports a call that the server ended well but without a response,
// or with several.
var notOneResponse = regexp.MustCompile(`^cardinality violation: (received no response)?`)

// decodeCallError returns the error for a failed call to server that the caller did not cancel.
func decodeCallError(err error, server *peer) error {
	// The status itself, because gRPC wraps that of the last attempt in a text on retries.
	converted := status.Convert(err)
	var reported interface{ GRPCStatus() *status.Status }
	if errors.As(err, &reported) {
		converted = reported.GRPCStatus()
	}
	message := converted.Proto()
	if errorInfo(message) != nil {
		return decodeItemError(message)
	}
	failure := &Error{
		Reason:  codeName(message.GetCode()),
		Message: message.GetMessage(),
		Status:  codes.Code(message.GetCode()),
	}
	if failure.Message == "" {
		failure.Message = "the status has no message"
	}
	count := notOneResponse.FindStringSubmatch(failure.Message)
	switch {
	case tooLarge.MatchString(failure.Message):
		failure.Reason, failure.Status = ReasonLimitExceeded, codes.ResourceExhausted
		failure.Metadata = map[string]string{"bound": "message_bytes"}
		return failure
	case failure.Status == codes.Internal && count != nil && count[1] != "":
		return invalidResponse("the call ended without an error and without a response")
	case failure.Status == codes.Internal && count != nil:
		return invalidResponse("the call ended with several responses")
	}
	setRetryAfter(failure, message)
	if unavailableCodes[failure.Status] {
		server.describe(failure)
		return &UnavailableError{Err: failure}
	}
	return failure
}

// decodeItemError returns the error that a server reports for a call or for one item. Its
// reason is that of the ErrorInfo of Sidecheck, or the name of the status code without one.
func decodeItemError(message *rpcstatus.Status) error {
	if codes.Code(message.GetCode()) == codes.OK {
		return invalidResponse("an outcome has neither a result nor an error")
	}
	failure := &Error{
		Reason:  codeName(message.GetCode()),
		Message: message.GetMessage(),
		Status:  codes.Code(message.GetCode()),
	}
	if info := errorInfo(message); info != nil {
		failure.Reason, failure.Metadata = info.GetReason(), info.GetMetadata()
	}
	setRetryAfter(failure, message)
	if isUnavailable(failure.Reason) {
		return &UnavailableError{Err: failure}
	}
	return failure
}

// errorInfo returns the first detail of message with a reason of Sidecheck, nil without one.
func errorInfo(message *rpcstatus.Status) *errdetails.ErrorInfo {
	for _, detail := range message.GetDetails() {
		var info errdetails.ErrorInfo
		if detail.MessageIs(&info) && detail.UnmarshalTo(&info) == nil && info.GetDomain() == domain {
			return &info
		}
	}
	return nil
}

// setRetryAfter sets the delay that a RetryInfo in message suggests.
func setRetryAfter(failure *Error, message *rpcstatus.Status) {
	for _, detail := range message.GetDetails() {
		var retry errdetails.RetryInfo
		if detail.MessageIs(&retry) && detail.UnmarshalTo(&retry) == nil {
			failure.RetryAfter = retry.GetRetryDelay().AsDuration()
			return
		}
	}
}

// codeName returns the name of a status code as the API has it, for example NOT_FOUND.
func codeName(number int32) string {
	if name, known := code.Code_name[number]; known {
		return name
	}
	return code.Code_UNKNOWN.String()
}
