package sidecheck

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// SessionOptions are the options of a session.
type SessionOptions struct {
	// Check has what is known before the first message, and the limits of each verdict.
	// Without a protocol version, there or of the client, the one that the session
	// negotiates applies.
	Check CheckOptions
	// Continued says that the first message to check is not the first of the session: then
	// rules that need the whole session are not applied.
	Continued bool
}

// SessionMessage is one message of a session.
type SessionMessage struct {
	// Message is the message. Set its sender: without it, the requests of the two peers
	// cannot be told apart. Its request and request method are not needed.
	Message ProtocolMessage
	// HTTPStatus is the status of the HTTP response to the message, or 0. A message of the
	// client that was rejected (400 or more) takes no part in the session.
	HTTPStatus uint32
}

// SessionSummary is what a session found in more than one message.
type SessionSummary struct {
	// RepeatedViolations are in the order of the first messages that have them.
	RepeatedViolations []RepeatedViolation
}

// RepeatedViolation is a violation that several messages have and the verdict on the first of
// them reports.
type RepeatedViolation struct {
	// Code of the violation.
	Code string
	// Tool that it is about. Empty if it is about a side of the session.
	Tool string
	// Count is the number of messages that have it.
	Count uint64
	// FirstItem is the index of the message whose verdict reports it, from 0.
	FirstItem uint64
}

// Session checks the messages of one MCP session, of both sides, in order and with the rules
// that span messages. What is true of many messages is in the verdict on the first of them
// only. It is safe for concurrent use; messages are checked one at a time.
type Session struct {
	stream *itemStream[SessionMessage, CheckOutcome]

	checking sync.Mutex
	next     int
	summary  *SessionSummary
}

// Session opens a session, which must be closed. The deadline of ctx is that of the session as
// a whole; without one there is none.
func (p *ProtocolClient) Session(
	ctx context.Context, options *SessionOptions,
) (*Session, error) {
	if options == nil {
		options = &SessionOptions{}
	}
	context, checkOptions, err := encodeCheckOptions(&options.Check, p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	fromBeginning := !options.Continued
	opening := &sidecheckv1.CheckSessionRequest{Message: &sidecheckv1.CheckSessionRequest_Defaults{
		Defaults: &sidecheckv1.SessionDefaults{
			Context: context, Options: checkOptions, FromBeginning: &fromBeginning,
		},
	}}
	session := &Session{}
	kind := streamKind[SessionMessage, CheckOutcome]{
		method:  sidecheckv1.ProtocolService_CheckSession_FullMethodName,
		encode:  encodeSessionItem,
		receive: session.receive,
		fail:    func(err *Error) CheckOutcome { return CheckOutcome{Err: err} },
	}
	session.stream, err = openStream(ctx, p.connection, kind, opening, 1)
	if err != nil {
		return nil, err
	}
	return session, nil
}

// Check checks the next message of the session. If it could not be checked, the session
// continues; a [*StreamClosedError] means that it has ended.
func (s *Session) Check(message SessionMessage) (*CheckResult, error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	id := strconv.Itoa(s.next)
	s.next++
	if err := s.stream.send(id, message); err != nil {
		return nil, err
	}
	_, outcome, err := s.stream.receive()
	if err != nil {
		return nil, err
	}
	return outcome.Result, outcome.Err
}

// Finish ends the session and returns what several of its messages have in common.
func (s *Session) Finish() (*SessionSummary, error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	if err := s.stream.finish(); err != nil {
		return nil, err
	}
	if _, _, err := s.stream.receive(); !errors.Is(err, io.EOF) {
		return nil, err
	}
	if s.summary == nil {
		return nil, invalidResponse("the server sent no summary of the session")
	}
	return s.summary, nil
}

// Close cancels the call if it has not ended, and releases its resources. It may be called
// more than once.
func (s *Session) Close() { s.stream.close() }

// receive returns the next response to a message, and keeps the summary that follows them.
func (s *Session) receive(call grpc.ClientStream) (string, CheckOutcome, error) {
	for {
		var response sidecheckv1.CheckSessionResponse
		received := received{message: &response}
		if err := call.RecvMsg(&received); err != nil {
			return "", CheckOutcome{}, err
		}
		if err := received.err(); err != nil {
			return "", CheckOutcome{}, err
		}
		if response.GetSummary() == nil {
			outcome, err := decodeCheckOutcome(response.GetOutcome())
			return response.GetId(), outcome, err
		}
		s.summary = &SessionSummary{RepeatedViolations: decodeList(
			response.GetSummary().GetRepeatedViolations(),
			func(message *sidecheckv1.RepeatedViolation) RepeatedViolation {
				return RepeatedViolation{
					Code:      message.GetCode(),
					Tool:      message.GetTool(),
					Count:     message.GetCount(),
					FirstItem: message.GetFirstItem(),
				}
			}),
		}
	}
}

// encodeSessionItem returns the message for an item, or for its id alone.
func encodeSessionItem(id string, item *SessionMessage) (proto.Message, error) {
	message := &sidecheckv1.SessionItem{Id: id}
	if item != nil {
		var err error
		if message.Message, err = item.Message.encode(); err != nil {
			return nil, err
		}
		message.HttpStatus = item.HTTPStatus
	}
	return &sidecheckv1.CheckSessionRequest{
		Message: &sidecheckv1.CheckSessionRequest_Item{Item: message},
	}, nil
}
