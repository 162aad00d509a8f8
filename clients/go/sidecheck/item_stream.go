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

// DefaultOutstanding is the most items of a stream whose outcomes have not been received.
const DefaultOutstanding = 64

// streamKind describes streams with messages of the type M for items and outcomes of the type O.
type streamKind[M, O any] struct {
	method string
	// wrap returns the message to send for an id and its item, or for the id alone if item is
	// the zero value.
	wrap func(id string, item M) proto.Message
	// receive returns the id and the outcome in the next response to an item. It gets responses
	// from next, whose error ends the stream.
	receive func(next func(response proto.Message) error) (string, O, error)
	// failed returns the outcome of an item that has the error err.
	failed func(err error) O
}

// itemStream is one call to which items are sent while their outcomes arrive, in order.
type itemStream[M, O any] struct {
	kind       streamKind[M, O]
	connection *connection
	limits     *Limits
	// ctx is that of the caller; cancel ends the call.
	ctx    context.Context
	cancel context.CancelFunc
	call   grpc.ClientStream

	// slots has an element for each item that has not been released.
	slots chan struct{}
	// ended is closed at the end of the call, after err is set.
	ended chan struct{}

	// sending is held while an item or the end of the items is sent.
	sending sync.Mutex
	mutex   sync.Mutex
	// pending are the items that were sent and have no outcome, in order.
	pending  []pendingItem[O]
	finished bool
	// abandoned is why the caller ended the stream early; nil if it has not.
	abandoned error
	// err is what ended the call; nil after all outcomes.
	err error
}

// pendingItem is an item that was sent. If it could not be, only its id was, and err replaces
// its outcome: so each item has one response, and responses stay in order.
type pendingItem[O any] struct {
	id  string
	err error
	// deliver takes the outcome and must not wait.
	deliver func(O)
}

// bidirectional describes calls with streams in both directions.
var bidirectional = &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}

// openStream opens a stream that begins with the message opening. At most outstanding items, 0
// for [DefaultOutstanding], are sent and not released at a time.
func openStream[M, O any](
	ctx context.Context, c *connection, kind streamKind[M, O], opening proto.Message, outstanding int,
) (*itemStream[M, O], error) {
	if outstanding < 0 {
		return nil, fmt.Errorf("%w: outstanding must be positive, not %d", ErrInvalidArgument, outstanding)
	}
	if outstanding == 0 {
		outstanding = DefaultOutstanding
	}
	request, err := encodeRequest(opening)
	if err != nil {
		return nil, err
	}
	// Not from the store: this call is retried while no server responds, unlike the stream.
	info, err := c.info(ctx, c.timeout)
	if err != nil {
		return nil, err
	}
	if size := len(request); size > int(info.Limits.MessageBytes) {
		return nil, itemTooLarge(size, &info.Limits)
	}
	callCtx, cancel := context.WithCancel(ctx)
	call, err := c.channel.NewStream(callCtx, bidirectional, kind.method, withCodec)
	if err == nil {
		if err = call.SendMsg(request); errors.Is(err, io.EOF) {
			// The reader finds out what ended the call.
			err = nil
		}
	}
	if err != nil {
		cancel()
		return nil, c.failure(ctx, err)
	}
	stream := &itemStream[M, O]{
		kind:       kind,
		connection: c,
		limits:     &info.Limits,
		ctx:        ctx,
		cancel:     cancel,
		call:       call,
		slots:      make(chan struct{}, outstanding),
		ended:      make(chan struct{}),
	}
	go stream.read()
	return stream, nil
}

// send sends one item, or for one that has the error failure only its id. It waits while too many
// items are not released. The outcome goes to deliver.
func (s *itemStream[M, O]) send(id string, item M, failure error, deliver func(O)) error {
	if !utf8.ValidString(id) {
		return fmt.Errorf("%w: the id of an item is not UTF-8", ErrInvalidArgument)
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	select {
	case <-s.ended:
		return s.closedError()
	default:
	}
	if s.finished {
		return errFinished
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.ended:
		return s.closedError()
	}
	request, failure := s.encode(id, item, failure)
	s.mutex.Lock()
	s.pending = append(s.pending, pendingItem[O]{id, failure, deliver})
	s.mutex.Unlock()
	if s.call.SendMsg(request) != nil {
		// The reader finds out what ended the call.
		<-s.ended
		return s.closedError()
	}
	return nil
}

// encode returns the message for item, or for its id alone with the error that replaces its
// outcome.
func (s *itemStream[M, O]) encode(id string, item M, failure error) (outgoing, error) {
	if failure == nil {
		var request outgoing
		if request, failure = encodeRequest(s.kind.wrap(id, item)); failure == nil {
			if size := len(request); size > int(s.limits.MessageBytes) {
				failure = itemTooLarge(size, s.limits)
			} else {
				return request, nil
			}
		}
	}
	if errors.Is(failure, ErrInvalidArgument) {
		failure = itemNotEncodable(failure)
	}
	var none M
	// A valid id can be encoded.
	request, _ := encodeRequest(s.kind.wrap(id, none))
	return request, failure
}

// release makes room for another item.
func (s *itemStream[M, O]) release() { <-s.slots }

// finish says that there are no more items. It waits for those that are being sent.
func (s *itemStream[M, O]) finish() error {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mutex.Lock()
	finished := s.finished
	s.finished = true
	s.mutex.Unlock()
	if finished {
		return nil
	}
	return s.call.CloseSend()
}

// close ends the stream, at once if it is not finished, and waits until it has ended.
func (s *itemStream[M, O]) close() {
	s.abandon(streamCancelled("the stream was left"))
	<-s.ended
}

// abandon ends the stream because of cause, unless it has ended.
func (s *itemStream[M, O]) abandon(cause error) {
	s.mutex.Lock()
	s.abandoned = cause
	s.mutex.Unlock()
	s.cancel()
}

// read passes on the outcomes until the call ends.
func (s *itemStream[M, O]) read() {
	err := s.readAll()
	// Whatever ended the reading, the call must not stay behind.
	s.cancel()
	s.mutex.Lock()
	if !errors.Is(err, io.EOF) {
		s.err = s.endError(err)
	} else if !s.finished || len(s.pending) > 0 {
		s.err = s.endError(invalidResponse("the server ended the stream early"))
	}
	s.mutex.Unlock()
	close(s.ended)
}

func (s *itemStream[M, O]) readAll() error {
	for {
		id, outcome, err := s.kind.receive(s.next)
		if err != nil {
			return err
		}
		item, expected := s.settle(id)
		if !expected {
			return invalidResponse("the server responded out of order")
		}
		if item.err != nil {
			outcome = s.kind.failed(item.err)
		}
		item.deliver(outcome)
	}
}

// next decodes the next response, and returns [io.EOF] at the regular end of the call.
func (s *itemStream[M, O]) next(response proto.Message) error {
	received := &incoming{message: response}
	if err := s.call.RecvMsg(received); errors.Is(err, io.EOF) {
		return io.EOF
	} else if err != nil {
		return s.connection.failure(s.ctx, err)
	}
	return received.fault
}

// settle removes and returns the oldest item, if id is its id or empty, as it is where the
// server could not read it.
func (s *itemStream[M, O]) settle(id string) (pendingItem[O], bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.pending) == 0 || (id != "" && id != s.pending[0].id) {
		return pendingItem[O]{}, false
	}
	item := s.pending[0]
	s.pending = s.pending[1:]
	return item, true
}

// endError returns the error of the stream for what ended it. It needs the mutex.
func (s *itemStream[M, O]) endError(err error) error {
	var unanswered []string
	for _, item := range s.pending {
		unanswered = append(unanswered, item.id)
	}
	if s.abandoned != nil {
		err = s.abandoned
	}
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		return &StreamUnavailableError{Err: unavailable.Err, Unanswered: unanswered}
	}
	var failure *Error
	if !errors.As(err, &failure) {
		failure = streamCancelled(err.Error())
	}
	return &StreamClosedError{Err: failure, Unanswered: unanswered, cause: err}
}

// closedError returns the error of a stream that has ended.
func (s *itemStream[M, O]) closedError() error {
	if s.err != nil {
		return s.err
	}
	return errFinished
}

var errFinished = fmt.Errorf("%w: the stream is finished and accepts no more items", ErrInvalidArgument)

func streamCancelled(message string) *Error {
	return &Error{Reason: "CANCELLED", Message: message, Status: codes.Canceled}
}
