package sidecheck

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// received is a response of the server. gRPC reports one that does not decode as an INTERNAL
// error, in the same way as an error of the server; so the codec keeps the failure here.
type received struct {
	message proto.Message
	size    int
	invalid bool
}

func (r *received) name() string {
	return string(r.message.ProtoReflect().Descriptor().Name())
}

func (r *received) err() error {
	if !r.invalid {
		return nil
	}
	return invalidResponse(
		"the response, of %d bytes, is not a %s of Protocol Buffers", r.size, r.name())
}

// encoded is a request in its encoding. gRPC reports a message that cannot be encoded, because
// of text that is not UTF-8, in the same way as an error of the server; so it is encoded
// before the call.
type encoded []byte

func encodeRequest(message proto.Message) (encoded, error) {
	data, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("sidecheck: cannot encode the request: %w", err)
	}
	return data, nil
}

// callCodec is the codec of gRPC for Protocol Buffers, except that it takes an encoded and
// decodes into a *received; it never fails then.
type callCodec struct{ encoding.CodecV2 }

var withCallCodec = grpc.ForceCodecV2(callCodec{encoding.GetCodecV2(encodingproto.Name)})

// Marshal returns the encoding of value, which is an encoded or a message.
func (c callCodec) Marshal(value any) (mem.BufferSlice, error) {
	if request, ok := value.(encoded); ok {
		return mem.BufferSlice{mem.SliceBuffer(request)}, nil
	}
	return c.CodecV2.Marshal(value)
}

// Unmarshal decodes data into value, which is a *received or a message.
func (c callCodec) Unmarshal(data mem.BufferSlice, value any) error {
	response, ok := value.(*received)
	if !ok {
		return c.CodecV2.Unmarshal(data, value)
	}
	response.size = data.Len()
	response.invalid = c.CodecV2.Unmarshal(data, response.message) != nil
	return nil
}
