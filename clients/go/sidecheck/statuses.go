package sidecheck

import (
	"regexp"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// domain is that of the google.rpc.ErrorInfo messages whose reasons are Sidecheck's.
const domain = "sidecheck"

// unavailableCodes are the status codes that gRPC libraries and proxies set by themselves.
// Without a reason of Sidecheck they mean that no Sidecheck server answered. All other codes
// are only ever set by an application (gRPC, doc/statuscodes.md). The comments name origins
// beside those in that document: HTTP statuses (doc/http-grpc-status-mapping.md) and codes of
// RST_STREAM (doc/PROTOCOL-HTTP2.md, "Errors").
var unavailableCodes = map[codes.Code]bool{
	codes.Canceled:          true, // RST_STREAM with CANCEL
	codes.Unknown:           true, // HTTP statuses that are not listed here, such as 500
	codes.DeadlineExceeded:  true,
	codes.PermissionDenied:  true, // HTTP 403; INADEQUATE_SECURITY
	codes.ResourceExhausted: true, // ENHANCE_YOUR_CALM
	codes.Unimplemented:     true, // HTTP 404
	codes.Internal:          true, // HTTP 400; most codes of RST_STREAM
	codes.Unavailable:       true, // HTTP 429, 502, 503, 504; REFUSED_STREAM; GOAWAY
	codes.Unauthenticated:   true, // HTTP 401
}

// requestTooLarge matches the messages for a request that a server or proxy finds too large:
// those of gRPC for C++ and Go ("message larger than max"), of gRPC for Java, and HTTP status
// 413 as gRPC for C++ and Go report it. Whoever writes the payload can bring these about, so
// they must never pass for an unavailable server.
var requestTooLarge = regexp.MustCompile(
	`message larger than max|message exceeds maximum size` +
		`|http2 header with status: 413|HTTP status code received from server: 413`)

// decodeCallError returns the error of a failed call that the caller did not cancel.
func decodeCallError(status *spb.Status) *Error {
	if findErrorInfo(status) != nil {
		return decodeItemError(status)
	}
	failure := &Error{
		Reason:     statusName(codes.Code(status.GetCode())),
		Message:    status.GetMessage(),
		Status:     codes.Code(status.GetCode()),
		RetryAfter: retryAfter(status),
	}
	if failure.Message == "" {
		failure.Message = "the status has no message"
	}
	if requestTooLarge.MatchString(failure.Message) {
		failure.Reason = "LIMIT_EXCEEDED"
		failure.Metadata = map[string]string{"bound": "message_bytes"}
		failure.Status = codes.ResourceExhausted
	} else if unavailableCodes[failure.Status] {
		failure.kind = ErrUnavailable
	}
	return failure
}

// decodeItemError returns the error that a server reports for a call, or for one item: that
// of the google.rpc.ErrorInfo of Sidecheck, or of the status code without one.
func decodeItemError(status *spb.Status) *Error {
	failure := &Error{
		Reason:     statusName(codes.Code(status.GetCode())),
		Message:    status.GetMessage(),
		Status:     codes.Code(status.GetCode()),
		RetryAfter: retryAfter(status),
	}
	if info := findErrorInfo(status); info != nil {
		failure.Reason, failure.Metadata = info.GetReason(), info.GetMetadata()
	}
	if failure.Reason == "OVERLOADED" || failure.Reason == "SHUTTING_DOWN" {
		failure.kind = ErrUnavailable
	}
	return failure
}

func findErrorInfo(status *spb.Status) *errdetails.ErrorInfo {
	return findDetail(status, func(info *errdetails.ErrorInfo) bool {
		return info.GetDomain() == domain
	})
}

func retryAfter(status *spb.Status) time.Duration {
	info := findDetail(status, func(*errdetails.RetryInfo) bool { return true })
	return info.GetRetryDelay().AsDuration()
}

// findDetail returns the first detail of a type that fits, nil if there is none. Details that
// do not decode are ignored: the code and the message suffice.
func findDetail[Detail proto.Message](status *spb.Status, fits func(Detail) bool) Detail {
	for _, detail := range status.GetDetails() {
		message, err := detail.UnmarshalNew()
		if err != nil {
			continue
		}
		if found, ok := message.(Detail); ok && fits(found) {
			return found
		}
	}
	var none Detail
	return none
}
