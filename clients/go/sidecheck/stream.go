package sidecheck

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// StreamOptions are the options of a stream of payloads.
type StreamOptions struct {
	// Target of the items without their own.
	Target Target
	// Options of the items without their own.
	Options *ValidationOptions
	// Outstanding is the most items whose outcomes have not been read; 0 means 64. Sending
	// waits beyond it.
	Outstanding int
}

// StreamOutcome is the outcome of one item of a stream: a verdict or an error.
type StreamOutcome struct {
	// ID is that of the item.
	ID string
	ValidateOutcome
}

// Stream validates payloads as they come, with outcomes in the order of the items. Send in one
// goroutine and receive in another: at most [StreamOptions].Outstanding items may be sent whose
// outcomes have not been read. [Client.ValidateStream] does both.
type Stream struct {
	stream *itemStream[Item, ValidateOutcome]
}

// Stream opens a stream of payloads, which must be closed. With nil, options are the defaults.
//
// The deadline of ctx is that of the stream as a whole; without one there is none. The stream
// is not retried. [ClientOptions.OnUnavailable] does not apply: only the caller can decide
// about the remaining items.
func (c *Client) Stream(ctx context.Context, options *StreamOptions) (*Stream, error) {
	if options == nil {
		options = &StreamOptions{}
	}
	version := c.connection.protocolVersion
	target, err := encodeTarget(options.Target)
	if err != nil {
		return nil, err
	}
	validationOptions, err := encodeOptions(options.Options, version)
	if err != nil {
		return nil, err
	}
	opening := &sidecheckv1.ValidateStreamRequest{Message: &sidecheckv1.ValidateStreamRequest_Defaults{
		Defaults: &sidecheckv1.StreamDefaults{Target: target, Options: validationOptions},
	}}
	stream, err := openStream(
		ctx, c.connection, validationStream(version), opening, options.Outstanding)
	if err != nil {
		return nil, err
	}
	return &Stream{stream}, nil
}

// Send sends one item; its outcome comes with id, which need not be unique. An item that
// cannot be sent has its error as its outcome. Send waits while as many items are outstanding
// as may be. It fails with a [*StreamClosedError] if the stream has ended, as Recv then does.
func (s *Stream) Send(id string, item Item) error { return s.stream.send(id, item) }

// Recv returns the next outcome. It returns [io.EOF] after the last one of a finished stream,
// and a [*StreamClosedError] if the stream ended early.
func (s *Stream) Recv() (StreamOutcome, error) {
	id, outcome, err := s.stream.receive()
	return StreamOutcome{id, outcome}, err
}

// Finish ends the items; Recv returns [io.EOF] after the last outcome.
func (s *Stream) Finish() error { return s.stream.finish() }

// Close cancels the call if it has not ended, and releases its resources. It may be called
// more than once.
func (s *Stream) Close() { s.stream.close() }

// ValidateStream validates payloads as they come: it yields the outcome of each item, in order.
// items are pairs of an id and an item. They are taken in a goroutine of its own, at most
// [StreamOptions].Outstanding ahead of the outcomes; if the loop is left while items blocks,
// that goroutine ends when items yields again. Leaving the loop cancels the call.
//
// An error means that the stream could not be opened or ended early, and is the last element;
// the latter is a [*StreamClosedError]. Otherwise as [Client.Stream].
func (c *Client) ValidateStream(
	ctx context.Context, items iter.Seq2[string, Item], options *StreamOptions,
) iter.Seq2[StreamOutcome, error] {
	return func(yield func(StreamOutcome, error) bool) {
		stream, err := c.Stream(ctx, options)
		if err != nil {
			yield(StreamOutcome{}, err)
			return
		}
		defer stream.Close()
		go func() {
			for id, item := range items {
				if stream.Send(id, item) != nil {
					return // Recv returns the error.
				}
			}
			stream.Finish()
		}()
		for {
			outcome, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(outcome, err) || err != nil {
				return
			}
		}
	}
}

// validationStream is the kind of the streams of payloads. version is the protocol version of
// items with options that name none.
func validationStream(version string) streamKind[Item, ValidateOutcome] {
	return streamKind[Item, ValidateOutcome]{
		method: sidecheckv1.ValidationService_ValidateStream_FullMethodName,
		encode: func(id string, item *Item) (proto.Message, error) {
			message := &sidecheckv1.StreamItem{Id: id}
			if item != nil {
				var err error
				if message.Item, err = encodeItem(*item, version); err != nil {
					return nil, err
				}
			}
			return &sidecheckv1.ValidateStreamRequest{
				Message: &sidecheckv1.ValidateStreamRequest_Item{Item: message},
			}, nil
		},
		receive: func(call grpc.ClientStream) (string, ValidateOutcome, error) {
			var response sidecheckv1.ValidateStreamResponse
			received := received{message: &response}
			if err := call.RecvMsg(&received); err != nil {
				return "", ValidateOutcome{}, err
			}
			if err := received.err(); err != nil {
				return "", ValidateOutcome{}, err
			}
			outcome, err := decodeOutcome(response.GetOutcome(), response.GetRegistryRevision())
			return response.GetId(), outcome, err
		},
		fail: func(err *Error) ValidateOutcome { return ValidateOutcome{Err: err} },
	}
}
