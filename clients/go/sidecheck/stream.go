package sidecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// DefaultOutstanding is the most items of a stream whose outcomes have not been read.
const DefaultOutstanding = 64

// StreamOptions are the options of a stream. The zero value and a nil pointer are the defaults.
type StreamOptions struct {
	// Target of the items without their own.
	Target Target
	// Options of the items without their own.
	Options *Options
	// Outstanding is the most items whose outcomes have not been read: [Stream.Send] waits
	// beyond. 0 means [DefaultOutstanding].
	Outstanding int
}

// StreamItem is an item of a stream and its id, which its outcome repeats and which need not be
// unique.
type StreamItem struct {
	ID   string
	Item Item
}

// StreamOutcome is the outcome of one item of a stream.
type StreamOutcome struct {
	// ID of the item.
	ID string
	Outcome
}

// Stream validates payloads as they come. One goroutine may send while another receives: a
// sender waits while too many outcomes have not been received. Close it in any case.
// [Client.ValidateStream] does all of this.
type Stream struct {
	connection *connection
	limits     *Limits
	// ctx is that of the caller; cancel ends the call.
	ctx    context.Context
	cancel context.CancelFunc
	call   grpc.ClientStream

	// slots has an element for each item whose outcome has not been received.
	slots chan struct{}
	// outcomes has room for all of them, so that the reader never waits. It is closed at the
	// end of the call.
	outcomes chan StreamOutcome
	// ended is closed at the end of the call, after err is set.
	ended chan struct{}

	sending sync.Mutex
	mutex   sync.Mutex
	// pending are the items that were sent and have no outcome, in order.
	pending  []pendingItem
	finished bool
	left     bool
	// err is what ended the call; nil after all outcomes.
	err error
}

// pendingItem is an item that was sent. If it could not be, only its id was, and err replaces
// its outcome: so each item has one response, and responses stay in order.
type pendingItem struct {
	id  string
	err error
}

// Stream opens a stream. The deadline of ctx, if any, is that of the stream as a whole, and
// cancelling ctx ends it. Opening fetches the limits of the server, with the deadline and the
// retries of any call; the stream itself is not retried.
func (c *Client) Stream(ctx context.Context, options *StreamOptions) (*Stream, error) {
	if options == nil {
		options = &StreamOptions{}
	}
	outstanding := options.Outstanding
	if outstanding == 0 {
		outstanding = DefaultOutstanding
	}
	if outstanding < 0 {
		return nil, fmt.Errorf("%w: outstanding must be positive, not %d", ErrInvalidArgument, outstanding)
	}
	target, err := encodeTarget(options.Target)
	if err != nil {
		return nil, err
	}
	shared, err := options.Options.encode(c.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	opening := &pb.ValidateStreamRequest{Message: &pb.ValidateStreamRequest_Defaults{
		Defaults: &pb.StreamDefaults{Target: target, Options: shared},
	}}
	// Not from the store: this call is retried while no server responds, unlike the stream.
	info, err := c.connection.info(ctx, c.connection.timeout)
	if err != nil {
		return nil, err
	}
	if size := proto.Size(opening); size > int(info.Limits.MessageBytes) {
		return nil, itemTooLarge(size, &info.Limits)
	}
	callCtx, cancel := context.WithCancel(ctx)
	call, err := c.connection.channel.NewStream(callCtx, &pb.ValidationService_ServiceDesc.Streams[0],
		pb.ValidationService_ValidateStream_FullMethodName, withCodec)
	if err != nil {
		cancel()
		return nil, c.connection.failure(ctx, err)
	}
	stream := &Stream{
		connection: c.connection,
		limits:     &info.Limits,
		ctx:        ctx,
		cancel:     cancel,
		call:       call,
		slots:      make(chan struct{}, outstanding),
		outcomes:   make(chan StreamOutcome, outstanding),
		ended:      make(chan struct{}),
	}
	sent := &outgoing{message: opening}
	if err := call.SendMsg(sent); err != nil && !errors.Is(err, io.EOF) {
		cancel()
		if sent.fault != nil {
			return nil, sent.fault
		}
		return nil, c.connection.failure(ctx, err)
	}
	go stream.read()
	return stream, nil
}

// Send sends one item. It waits while as many items as StreamOptions.Outstanding have no
// outcome that was received. An item that cannot be sent has an error as its outcome, in order.
// The error is that of [Stream.Receive] if the stream ended early, and wraps
// [ErrInvalidArgument] after [Stream.Finish].
func (s *Stream) Send(id string, item Item) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	select {
	case <-s.ended:
		return s.closedError()
	default:
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.ended:
		return s.closedError()
	}
	message, failure := s.encode(id, item)
	s.mutex.Lock()
	if s.finished {
		s.mutex.Unlock()
		<-s.slots
		return fmt.Errorf("%w: the stream is finished and accepts no more items", ErrInvalidArgument)
	}
	s.pending = append(s.pending, pendingItem{id, failure})
	s.mutex.Unlock()
	sent := &outgoing{message: message}
	if err := s.call.SendMsg(sent); err != nil {
		if sent.fault != nil {
			// The id itself cannot be sent, so nothing can say what the outcome belongs to.
			s.mutex.Lock()
			s.pending = s.pending[:len(s.pending)-1]
			s.mutex.Unlock()
			<-s.slots
			return sent.fault
		}
		// The reader finds out what ended the call.
		<-s.ended
		return s.closedError()
	}
	return nil
}

// encode returns the message for item, or for its id alone with the error that replaces its
// outcome.
func (s *Stream) encode(id string, item Item) (*pb.ValidateStreamRequest, error) {
	wrap := func(item *pb.ValidateItem) *pb.ValidateStreamRequest {
		return &pb.ValidateStreamRequest{Message: &pb.ValidateStreamRequest_Item{
			Item: &pb.StreamItem{Id: id, Item: item},
		}}
	}
	encoded, err := item.encode(s.connection.protocolVersion)
	if err != nil {
		return wrap(nil), itemNotEncodable(err)
	}
	message := wrap(encoded)
	if size := proto.Size(message); size > int(s.limits.MessageBytes) {
		return wrap(nil), itemTooLarge(size, s.limits)
	}
	return message, nil
}

// Finish says that there are no more items. [Stream.Receive] then ends after the last outcome.
func (s *Stream) Finish() error {
	s.mutex.Lock()
	finished := s.finished
	s.finished = true
	s.mutex.Unlock()
	if finished {
		return nil
	}
	return s.call.CloseSend()
}

// Receive returns the next outcome, in the order of the items, and [io.EOF] after the last one
// of a finished stream. Any other error ended the stream early: a [*StreamUnavailableError] if
// its server stopped or was lost, and otherwise a [*StreamClosedError], which contains
// [context.Canceled] if ctx was cancelled.
func (s *Stream) Receive() (StreamOutcome, error) {
	outcome, open := <-s.outcomes
	if !open {
		if s.err == nil {
			return StreamOutcome{}, io.EOF
		}
		return StreamOutcome{}, s.err
	}
	<-s.slots
	return outcome, nil
}

// Close ends the stream, at once if it is not finished, and releases all it holds.
func (s *Stream) Close() {
	s.mutex.Lock()
	s.left = true
	s.mutex.Unlock()
	s.cancel()
	<-s.ended
}

// read passes on the responses until the call ends.
func (s *Stream) read() {
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
	close(s.outcomes)
	close(s.ended)
}

func (s *Stream) readAll() error {
	for {
		var response pb.ValidateStreamResponse
		received := &incoming{message: &response}
		if err := s.call.RecvMsg(received); err != nil {
			if errors.Is(err, io.EOF) {
				return io.EOF
			}
			return s.connection.failure(s.ctx, err)
		}
		if received.fault != nil {
			return received.fault
		}
		outcome := decodeOutcome(response.GetOutcome(), response.GetRegistryRevision())
		item, expected := s.settle(response.GetId())
		if !expected {
			return invalidResponse("the server responded out of order")
		}
		if item.err != nil {
			outcome = Outcome{Err: item.err}
		} else if isInvalidResponse(outcome.Err) {
			s.mutex.Lock()
			s.pending = append([]pendingItem{item}, s.pending...)
			s.mutex.Unlock()
			return outcome.Err
		}
		s.outcomes <- StreamOutcome{item.id, outcome}
	}
}

// settle removes and returns the oldest item, if id is its id or empty, as it is where the
// server could not read it.
func (s *Stream) settle(id string) (pendingItem, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.pending) == 0 || (id != "" && id != s.pending[0].id) {
		return pendingItem{}, false
	}
	item := s.pending[0]
	s.pending = s.pending[1:]
	return item, true
}

// endError returns the error of the stream for what ended it. It needs the mutex.
func (s *Stream) endError(err error) error {
	var unanswered []string
	for _, item := range s.pending {
		unanswered = append(unanswered, item.id)
	}
	if s.left {
		return &StreamClosedError{Err: &Error{
			Reason: "CANCELLED", Message: "the stream was left", Status: codes.Canceled,
		}, Unanswered: unanswered}
	}
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		return &StreamUnavailableError{Err: unavailable.Err, Unanswered: unanswered}
	}
	var failure *Error
	if errors.As(err, &failure) {
		return &StreamClosedError{Err: failure, Unanswered: unanswered, cause: err}
	}
	return &StreamClosedError{Err: &Error{
		Reason: "CANCELLED", Message: err.Error(), Status: codes.Canceled,
	}, Unanswered: unanswered, cause: err}
}

// closedError returns the error of a stream that has ended.
func (s *Stream) closedError() error {
	if s.err != nil {
		return s.err
	}
	return fmt.Errorf("%w: the stream is finished and accepts no more items", ErrInvalidArgument)
}

// ValidateStream validates payloads as they come and yields the outcome of each, in order. The
// items are taken in another goroutine, at most StreamOptions.Outstanding ahead of the outcomes
// that were yielded. An error ends the iteration; see [Client.Stream] and [Stream.Receive].
// Leaving the iteration cancels the call; it returns when items has, which should heed ctx where
// it waits.
func (c *Client) ValidateStream(
	ctx context.Context, items iter.Seq[StreamItem], options *StreamOptions,
) iter.Seq2[StreamOutcome, error] {
	return func(yield func(StreamOutcome, error) bool) {
		stream, err := c.Stream(ctx, options)
		if err != nil {
			yield(StreamOutcome{}, err)
			return
		}
		sent := make(chan error, 1)
		go func() { sent <- stream.sendAll(items) }()
		defer func() {
			stream.Close()
			<-sent
		}()
		for {
			outcome, err := stream.Receive()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(outcome, err) || err != nil {
				return
			}
		}
	}
}

// sendAll sends items and finishes the stream. An error ends the call, unless it already has.
func (s *Stream) sendAll(items iter.Seq[StreamItem]) error {
	for item := range items {
		if err := s.Send(item.ID, item.Item); err != nil {
			s.cancel()
			return err
		}
	}
	return s.Finish()
}
