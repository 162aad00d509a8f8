package sidecheck

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// outgoing is an encoded request. It is encoded before the call, because gRPC ends a stream with
// a message that cannot be.
type outgoing []byte

// encodeRequest returns message encoded. The error wraps [ErrInvalidArgument].
func encodeRequest(message proto.Message) (outgoing, error) {
	data, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidArgument, err)
	}
	return data, nil
}

// incoming receives a response. If it does not decode, fault says so.
type incoming struct {
	message proto.Message
	fault   error
}

// codec keeps faults of decoding apart from the status of the call: gRPC reports them as
// INTERNAL, which a server or proxy may send too.
type codec struct{ encoding.CodecV2 }

var withCodec = grpc.ForceCodecV2(codec{encoding.GetCodecV2(encodingproto.Name)})

func (c codec) Marshal(value any) (mem.BufferSlice, error) {
	request, ok := value.(outgoing)
	if !ok {
		return nil, fmt.Errorf("sidecheck: cannot encode a %T", value)
	}
	return mem.BufferSlice{mem.SliceBuffer(request)}, nil
}

func (c codec) Unmarshal(data mem.BufferSlice, value any) error {
	response, ok := value.(*incoming)
	if !ok {
		return fmt.Errorf("sidecheck: cannot decode into a %T", value)
	}
	if err := c.CodecV2.Unmarshal(data, response.message); err != nil {
		response.fault = invalidResponse("the response, of %d bytes, does not decode", data.Len())
	}
	return nil
}
