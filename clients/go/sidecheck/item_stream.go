package sidecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// defaultOutstanding is the most items of a stream whose outcomes have not been read.
const defaultOutstanding = 64

// streamKind is a kind of stream, with the functions that translate its items and responses.
type streamKind[Item, Outcome any] struct {
	method string
	// encode returns the message for an id and an item, nil for the id alone.
	encode func(id string, item *Item) (proto.Message, error)
	// receive returns the id and the outcome in the next response to an item, and io.EOF at
	// the end.
	receive func(grpc.ClientStream) (string, Outcome, error)
	// fail returns the outcome of an item that cannot be sent.
	fail func(*Error) Outcome
}

// itemStream is one call to which items are sent while their outcomes are read.
//
// A goroutine receives the outcomes into a channel that has room for all that may be
// outstanding, so it ends with the call whether they are read or not.
type itemStream[Item, Outcome any] struct {
	kind       streamKind[Item, Outcome]
	connection *connection
	limits     *Limits
	ctx        context.Context
	cancel     context.CancelFunc
	call       grpc.ClientStream
	// slots has an element for each item sent whose outcome has not been read.
	slots    chan struct{}
	outcomes chan answeredItem[Outcome]
	// ended is closed when the call has ended and err is set.
	ended chan struct{}

	// sending is held by a caller that sends.
	sending sync.Mutex
	// state guards what follows.
	state    sync.Mutex
	pending  []pendingItem
	finished bool
	left     bool
	err      error
}

// pendingItem is an item without an outcome, and the error to report in place of one.
type pendingItem struct {
	id  string
	err *Error
}

type answeredItem[Outcome any] struct {
	id      string
	outcome Outcome
}

// bidirectional describes a call in which both sides stream.
var bidirectional = &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}

// openStream opens a stream that begins with the message opening. The limits of the server are
// fetched for each stream: that call is retried while no server responds, unlike the stream.
func openStream[Item, Outcome any](
	ctx context.Context, c *connection, kind streamKind[Item, Outcome],
	opening proto.Message, outstanding int,
) (*itemStream[Item, Outcome], error) {
	if outstanding < 0 {
		return nil, fmt.Errorf("sidecheck: negative Outstanding %d", outstanding)
	}
	if outstanding == 0 {
		outstanding = defaultOutstanding
	}
	request, err := encodeRequest(opening)
	if err != nil {
		return nil, err
	}
	limitsCtx, cancelLimits := context.WithTimeout(ctx, c.timeout)
	defer cancelLimits()
	info, err := c.info(limitsCtx, c.timeout)
	if err != nil {
		return nil, err
	}
	if len(request) > int(info.Limits.MessageBytes) {
		return nil, tooLarge(len(request), &info.Limits)
	}
	callCtx, cancel := context.WithCancel(ctx)
	call, err := c.conn.NewStream(callCtx, bidirectional, kind.method, withCallCodec)
	if err == nil {
		if err = call.SendMsg(request); errors.Is(err, io.EOF) {
			// The call has ended; receiving tells why.
			err = nil
		}
	}
	if err != nil {
		cancel()
		return nil, c.decodeFailure(ctx, err)
	}
	stream := &itemStream[Item, Outcome]{
		kind:       kind,
		connection: c,
		limits:     &info.Limits,
		ctx:        ctx,
		cancel:     cancel,
		call:       call,
		slots:      make(chan struct{}, outstanding),
		outcomes:   make(chan answeredItem[Outcome], outstanding),
		ended:      make(chan struct{}),
	}
	go stream.run(callCtx)
	return stream, nil
}

// run receives outcomes until the call ends.
func (s *itemStream[Item, Outcome]) run(callCtx context.Context) {
	defer s.cancel()
	for {
		id, outcome, err := s.kind.receive(s.call)
		var answered answeredItem[Outcome]
		if err == nil {
			answered, err = s.settle(id, outcome)
		}
		if err != nil {
			s.end(err)
			return
		}
		select {
		case s.outcomes <- answered:
		case <-callCtx.Done():
			s.end(callCtx.Err())
			return
		}
	}
}

// settle returns the outcome for the oldest pending item, which a response with id is to. The
// id is empty where the server could not read it.
func (s *itemStream[Item, Outcome]) settle(
	id string, outcome Outcome,
) (answeredItem[Outcome], error) {
	s.state.Lock()
	defer s.state.Unlock()
	if len(s.pending) == 0 || id != "" && id != s.pending[0].id {
		return answeredItem[Outcome]{}, invalidResponse("the server responded out of order")
	}
	item := s.pending[0]
	s.pending = s.pending[1:]
	if item.err != nil {
		outcome = s.kind.fail(item.err)
	}
	return answeredItem[Outcome]{item.id, outcome}, nil
}

// end records why the call ended: io.EOF is its regular end.
func (s *itemStream[Item, Outcome]) end(cause error) {
	s.state.Lock()
	defer s.state.Unlock()
	switch {
	case s.left:
		cause = streamLeft()
	case errors.Is(cause, io.EOF):
		if s.finished && len(s.pending) == 0 {
			cause = nil
		} else {
			cause = invalidResponse("the server ended the stream early")
		}
	default:
		cause = s.connection.decodeFailure(s.ctx, cause)
	}
	if cause != nil {
		closed := &StreamClosedError{cause: cause}
		for _, item := range s.pending {
			closed.Unanswered = append(closed.Unanswered, item.id)
		}
		s.err = closed
	}
	close(s.outcomes)
	close(s.ended)
}

func streamLeft() *Error {
	return &Error{Reason: "CANCELLED", Message: "the stream was left", Status: codes.Canceled}
}

// send sends an item, and waits while as many are outstanding as may be.
func (s *itemStream[Item, Outcome]) send(id string, item Item) error {
	if !utf8.ValidString(id) {
		return fmt.Errorf("sidecheck: the id of an item is not UTF-8")
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	message, failure := s.encode(id, item)
	if err := s.admit(pendingItem{id, failure}); err != nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.ended:
		return s.closedError()
	}
	if err := s.call.SendMsg(message); err != nil {
		// The error is that of the call.
		<-s.ended
		return s.closedError()
	}
	return nil
}

// encode returns the message for an item, or for its id alone and the error of the item.
func (s *itemStream[Item, Outcome]) encode(id string, item Item) (encoded, *Error) {
	message, err := s.kind.encode(id, &item)
	var request encoded
	if err == nil {
		request, err = encodeRequest(message)
	}
	var failure *Error
	switch {
	case err != nil:
		failure = notEncodable(err)
	case len(request) > int(s.limits.MessageBytes):
		failure = tooLarge(len(request), s.limits)
	default:
		return request, nil
	}
	// An id of valid text is always encodable.
	message, _ = s.kind.encode(id, nil)
	request, _ = encodeRequest(message)
	return request, failure
}

// admit makes item pending: it has an outcome or is listed in the error of the stream.
func (s *itemStream[Item, Outcome]) admit(item pendingItem) error {
	s.state.Lock()
	defer s.state.Unlock()
	if s.finished {
		return errors.New("sidecheck: the stream is finished and accepts no more items")
	}
	if s.err != nil {
		return s.err
	}
	s.pending = append(s.pending, item)
	return nil
}

// closedError returns the error of a call that has ended while an item was pending.
func (s *itemStream[Item, Outcome]) closedError() error {
	s.state.Lock()
	defer s.state.Unlock()
	return s.err
}

// receive returns the next outcome, and io.EOF after the last one of a finished stream.
func (s *itemStream[Item, Outcome]) receive() (string, Outcome, error) {
	answered, ok := <-s.outcomes
	if ok {
		<-s.slots
		return answered.id, answered.outcome, nil
	}
	s.state.Lock()
	defer s.state.Unlock()
	if s.err != nil {
		return "", answered.outcome, s.err
	}
	return "", answered.outcome, io.EOF
}

// finish ends the items.
func (s *itemStream[Item, Outcome]) finish() error {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.state.Lock()
	finished, err := s.finished, s.err
	s.finished = true
	s.state.Unlock()
	if finished || err != nil {
		return err
	}
	return s.call.CloseSend()
}

// close cancels the call unless it has ended, and waits until it has.
func (s *itemStream[Item, Outcome]) close() {
	s.state.Lock()
	s.left = true
	s.state.Unlock()
	s.cancel()
	<-s.ended
}
