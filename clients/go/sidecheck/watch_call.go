package sidecheck

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// responding describes calls with one request and a stream of responses.
var responding = &grpc.StreamDesc{ServerStreams: true}

// watchOnce yields the events of one call, and the error that ended it.
func (c *connection) watchOnce(
	ctx context.Context, request *pb.WatchToolsRequest,
) iter.Seq2[WatchEvent, error] {
	return func(yield func(WatchEvent, error) bool) {
		// Leaving must end the call.
		callCtx, cancel := context.WithCancel(ctx)
		defer cancel()
		call, err := c.openWatch(callCtx, request)
		if err != nil {
			yield(nil, c.watchError(ctx, err))
			return
		}
		var joined ToolsChange
		for {
			var response pb.WatchToolsResponse
			received := &incoming{message: &response}
			if err := call.RecvMsg(received); err != nil {
				yield(nil, c.watchError(ctx, err))
				return
			}
			if received.fault != nil {
				yield(nil, received.fault)
				return
			}
			event, err := joined.next(&response)
			if err != nil {
				yield(nil, err)
				return
			}
			if event != nil && !yield(event, nil) {
				return
			}
		}
	}
}

// openWatch sends request. The call ends with ctx.
func (c *connection) openWatch(ctx context.Context, request *pb.WatchToolsRequest) (grpc.ClientStream, error) {
	encoded, err := encodeRequest(request)
	if err != nil {
		return nil, err
	}
	call, err := c.channel.NewStream(ctx, responding, pb.RegistryService_WatchTools_FullMethodName, withCodec)
	if err != nil {
		return nil, err
	}
	// At EOF the first response is the error that ended the call.
	if err := call.SendMsg(encoded); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return call, call.CloseSend()
}

// watchError returns the error for a watch that err ended. A regular end is a lost server, too: a
// watch has no last event.
func (c *connection) watchError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrInvalidArgument):
		return err
	case errors.Is(err, io.EOF):
		return &UnavailableError{Err: &Error{
			Reason: "UNAVAILABLE", Message: "the server ended the stream", Status: codes.Unavailable,
		}}
	}
	return c.failure(ctx, err)
}

// next returns the event in response, or nil if the next one has more of it, and keeps what it has
// of a change.
func (c *ToolsChange) next(response *pb.WatchToolsResponse) (WatchEvent, error) {
	if checkpoint := response.GetCheckpoint(); checkpoint != nil {
		return Checkpoint{checkpoint.GetRevision(), checkpoint.GetId()}, nil
	}
	message := response.GetChange()
	if message == nil {
		return nil, invalidResponse("WatchToolsResponse has neither a change nor a checkpoint")
	}
	c.Revision, c.ID, c.Server = message.GetRevision(), message.GetId(), message.GetServer()
	for _, registered := range message.GetRegistered() {
		tool, err := decodeTool(registered)
		if err != nil {
			return nil, err
		}
		c.Registered = append(c.Registered, tool)
	}
	c.Deleted = append(c.Deleted, message.GetDeleted()...)
	if message.GetContinued() {
		return nil, nil
	}
	whole := *c
	*c = ToolsChange{}
	return whole, nil
}
