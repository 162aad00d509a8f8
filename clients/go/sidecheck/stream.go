package sidecheck

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// StreamOptions are the options of a stream. The zero value and a nil pointer are the defaults.
type StreamOptions struct {
	// Target of the items without their own.
	Target Target
	// Options of the items without their own.
	Options *Options
	// Outstanding is the most items whose outcomes have not been received: [Stream.Send] waits
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
	items *itemStream[*pb.ValidateItem, Outcome]
	// outcomes has room for all that may be outstanding, so that their arrival waits for nobody.
	outcomes chan StreamOutcome
}

// validations are the streams of payloads to validate.
var validations = streamKind[*pb.ValidateItem, Outcome]{
	method: pb.ValidationService_ValidateStream_FullMethodName,
	wrap: func(id string, item *pb.ValidateItem) proto.Message {
		return &pb.ValidateStreamRequest{Message: &pb.ValidateStreamRequest_Item{
			Item: &pb.StreamItem{Id: id, Item: item},
		}}
	},
	receive: func(next func(proto.Message) error) (string, Outcome, error) {
		var response pb.ValidateStreamResponse
		if err := next(&response); err != nil {
			return "", Outcome{}, err
		}
		outcome := decodeOutcome(response.GetOutcome(), response.GetRegistryRevision())
		if isInvalidResponse(outcome.Err) {
			return "", Outcome{}, outcome.Err
		}
		return response.GetId(), outcome, nil
	},
	failed: func(err error) Outcome { return Outcome{Err: err} },
}

// Stream opens a stream. The deadline of ctx, if any, is that of the stream as a whole, and
// cancelling ctx ends it. Opening fetches the limits of the server, with the deadline and the
// retries of any call; the stream itself is not retried.
func (c *Client) Stream(ctx context.Context, options *StreamOptions) (*Stream, error) {
	if options == nil {
		options = &StreamOptions{}
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
		Defaults: &pb.StreamDefaults{
			Target: target, Options: shared, MinRevision: c.connection.minRevision.Load(),
		},
	}}
	items, err := openStream(ctx, c.connection, validations, opening, options.Outstanding)
	if err != nil {
		return nil, err
	}
	return &Stream{items, make(chan StreamOutcome, cap(items.slots))}, nil
}

// Send sends one item. It waits while as many items as StreamOptions.Outstanding have no
// outcome that was received. An item that cannot be sent has an error as its outcome, in order.
// The error is that of [Stream.Receive] if the stream ended early, and wraps
// [ErrInvalidArgument] after [Stream.Finish] and for an id that is not UTF-8.
func (s *Stream) Send(id string, item Item) error {
	message, failure := item.encode(s.items.connection.protocolVersion)
	return s.items.send(id, message, failure, func(outcome Outcome) {
		s.outcomes <- StreamOutcome{id, outcome}
	})
}

// Finish says that there are no more items. [Stream.Receive] then ends after the last outcome.
func (s *Stream) Finish() error { return s.items.finish() }

// Receive returns the next outcome, in the order of the items, and [io.EOF] after the last one
// of a finished stream. Any other error ended the stream early: a [*StreamUnavailableError] if
// its server stopped or was lost, and otherwise a [*StreamClosedError], which contains
// [context.Canceled] if ctx was cancelled.
func (s *Stream) Receive() (StreamOutcome, error) {
	select {
	case outcome := <-s.outcomes:
		s.items.release()
		return outcome, nil
	case <-s.items.ended:
	}
	select {
	// What arrived before the end is received before it.
	case outcome := <-s.outcomes:
		s.items.release()
		return outcome, nil
	default:
	}
	if s.items.err != nil {
		return StreamOutcome{}, s.items.err
	}
	return StreamOutcome{}, io.EOF
}

// Close ends the stream, at once if it is not finished, and releases all it holds.
func (s *Stream) Close() { s.items.close() }

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
			s.items.abandon(err)
			return err
		}
	}
	return s.Finish()
}
