package sidecheck

import (
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

// receivedCodec is the codec of gRPC for Protocol Buffers, except that it decodes into a
// *received and never fails then.
type receivedCodec struct{ encoding.CodecV2 }

var withReceivedCodec = grpc.ForceCodecV2(receivedCodec{encoding.GetCodecV2(encodingproto.Name)})

// Unmarshal decodes data into value, which is a *received or a message.
func (c receivedCodec) Unmarshal(data mem.BufferSlice, value any) error {
	response, ok := value.(*received)
	if !ok {
		return c.CodecV2.Unmarshal(data, value)
	}
	response.size = data.Len()
	response.invalid = c.CodecV2.Unmarshal(data, response.message) != nil
	return nil
}
