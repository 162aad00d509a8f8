package sidecheck

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// SessionOptions are the options of a session. The zero value and a nil pointer are the defaults.
type SessionOptions struct {
	// Check has what is known before the first message, and the limits of each verdict. Without
	// a protocol version, in it or of the client, the one that the session negotiates applies.
	Check CheckOptions
	// Continued says that the first message to check is not the first of the session: rules
	// that need the whole session are not applied.
	Continued bool
	// Outstanding is the most messages that are checked at a time; others wait. 0 means
	// [DefaultOutstanding].
	Outstanding int
}

// SessionSummary is what several messages of a session have in common.
type SessionSummary struct {
	// RepeatedViolations are in the order of the first messages that have them.
	RepeatedViolations []RepeatedViolation
}

// RepeatedViolation is a violation that several messages have and the verdict on the first of
// them reports.
type RepeatedViolation struct {
	// Code of the violation.
	Code string
	// Tool that it is about; empty if it is about a side of the session.
	Tool string
	// Count is the number of messages that have it.
	Count uint64
	// FirstItem is the index of the message whose verdict reports it, from 0.
	FirstItem uint64
}

// Session is one MCP session, with the messages of both sides. Close it in any case.
//
// Messages are checked in the order of the calls of [Session.Check], also against the rules that
// depend on earlier messages. What is true of many messages, such as that logging is deprecated,
// is in the verdict on the first of them; [Session.Finish] counts the others. Its methods may be
// called concurrently.
type Session struct {
	messages *itemStream[*pb.SessionItem, CheckOutcome]
	// summary is set before the stream ends.
	summary *SessionSummary

	mutex sync.Mutex
	count int
	// turn is closed when all earlier calls have sent their messages.
	turn chan struct{}
}

// Session opens a session. The deadline of ctx, if any, is that of the session as a whole, and
// cancelling ctx ends it. Opening fetches the limits of the server, with the deadline and the
// retries of any call; the session itself is not retried.
func (p *ProtocolClient) Session(ctx context.Context, options *SessionOptions) (*Session, error) {
	if options == nil {
		options = &SessionOptions{}
	}
	protocol, limits, err := options.Check.encodeCheck(p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	opening := &pb.CheckSessionRequest{Message: &pb.CheckSessionRequest_Defaults{
		Defaults: &pb.SessionDefaults{
			Context: protocol, Options: limits, FromBeginning: proto.Bool(!options.Continued),
		},
	}}
	session := &Session{turn: make(chan struct{})}
	close(session.turn)
	session.messages, err = openStream(ctx, p.connection, streamKind[*pb.SessionItem, CheckOutcome]{
		method: pb.ProtocolService_CheckSession_FullMethodName,
		wrap: func(id string, item *pb.SessionItem) proto.Message {
			if item == nil {
				item = &pb.SessionItem{}
			}
			item.Id = id
			return &pb.CheckSessionRequest{Message: &pb.CheckSessionRequest_Item{Item: item}}
		},
		receive: session.receive,
		failed:  func(err error) CheckOutcome { return CheckOutcome{Err: err} },
	}, opening, options.Outstanding)
	if err != nil {
		return nil, err
	}
	return session, nil
}

// Check checks the next message of the session, which is JSON text or a value to encode. Give its
// sender: without it, requests of the two sides cannot be told apart. httpStatus is that of the
// HTTP response to the message, or 0: a message of the client that was rejected (400 or more)
// takes no part in the session.
//
// Cancelling ctx, or its deadline, ends only the waiting: the message is checked all the same. The
// error wraps [ErrInvalidArgument] if nothing was sent, contains a [*StreamClosedError] if the
// session has ended, and otherwise says why this message could not be checked; then the session
// continues. ClientOptions.OnUnavailable does not apply.
func (s *Session) Check(
	ctx context.Context, message any, sender Sender, httpStatus int,
) (*CheckResult, error) {
	if httpStatus < 0 || httpStatus > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d is no HTTP status", ErrInvalidArgument, httpStatus)
	}
	encoded, err := ProtocolMessage{Message: message, Sender: sender}.encode()
	if err != nil {
		return nil, err
	}
	item := &pb.SessionItem{Message: encoded, HttpStatus: uint32(httpStatus)}
	outcomes := make(chan CheckOutcome, 1)
	sent := s.inTurn(func(id string) error {
		return s.messages.send(id, item, nil, func(outcome CheckOutcome) {
			s.messages.release()
			outcomes <- outcome
		})
	})
	select {
	case err = <-sent:
	case <-ctx.Done():
		return nil, s.messages.connection.contextError(ctx)
	}
	if err != nil {
		return nil, err
	}
	select {
	case outcome := <-outcomes:
		return outcome.Result, outcome.Err
	case <-ctx.Done():
		return nil, s.messages.connection.contextError(ctx)
	case <-s.messages.ended:
	}
	select {
	// It may have arrived before the end.
	case outcome := <-outcomes:
		return outcome.Result, outcome.Err
	default:
		return nil, s.messages.closedError()
	}
}

// Finish ends the session after the messages so far, and returns what several of them have in
// common. Cancelling ctx, or its deadline, ends only the waiting. The error contains a
// [*StreamClosedError] if the session ended early.
func (s *Session) Finish(ctx context.Context) (*SessionSummary, error) {
	sent := s.inTurn(func(string) error { return s.messages.finish() })
	select {
	case err := <-sent:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, s.messages.connection.contextError(ctx)
	}
	select {
	case <-s.messages.ended:
	case <-ctx.Done():
		return nil, s.messages.connection.contextError(ctx)
	}
	switch {
	case s.messages.err != nil:
		return nil, s.messages.err
	case s.summary == nil:
		return nil, invalidResponse("the server sent no summary of the session")
	}
	return s.summary, nil
}

// Close ends the session, at once if it is not finished, and releases all it holds.
func (s *Session) Close() { s.messages.close() }

// inTurn runs send, with the id of a message, after those of all earlier calls, and passes on its
// error. It does not wait: a caller that leaves must not change the order of the messages.
func (s *Session) inTurn(send func(id string) error) <-chan error {
	s.mutex.Lock()
	id, before, done := strconv.Itoa(s.count), s.turn, make(chan struct{})
	s.count++
	s.turn = done
	s.mutex.Unlock()
	sent := make(chan error, 1)
	go func() {
		<-before
		sent <- send(id)
		close(done)
	}()
	return sent
}

// receive returns the next response to a message. It stores the summary, which follows them.
func (s *Session) receive(next func(proto.Message) error) (string, CheckOutcome, error) {
	var response pb.CheckSessionResponse
	for {
		if err := next(&response); err != nil {
			return "", CheckOutcome{}, err
		}
		if response.GetSummary() == nil {
			outcome, err := decodeCheckOutcome(response.GetOutcome())
			return response.GetId(), outcome, err
		}
		s.summary = &SessionSummary{}
		for _, repeated := range response.GetSummary().GetRepeatedViolations() {
			s.summary.RepeatedViolations = append(s.summary.RepeatedViolations, RepeatedViolation{
				Code:      repeated.GetCode(),
				Tool:      repeated.GetTool(),
				Count:     repeated.GetCount(),
				FirstItem: repeated.GetFirstItem(),
			})
		}
	}
}
