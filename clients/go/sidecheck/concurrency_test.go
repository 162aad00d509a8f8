package sidecheck_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
)

// A server with default settings accepts 32 calls of a connection at a time. gRPC queues what is
// beyond, but the server may still count a call whose end the client has seen, and refuse one.
func TestMoreCallsThanAConnectionMayHave(t *testing.T) {
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	for _, callers := range []int{64, 256} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) {
			var running sync.WaitGroup
			for range callers {
				running.Go(func() {
					for range 10 {
						if verdict, err := client.Validate(t.Context(), schema, map[string]any{"q": "x"}, nil); err != nil {
							t.Error(err)
						} else if !verdict.Valid {
							t.Errorf("got %+v", verdict)
						}
					}
				})
			}
			running.Wait()
		})
	}
}

// gRPC makes at most six attempts of a call whose streams are refused.
func TestRefusedCallIsSentAgain(t *testing.T) {
	const refusals = 8
	client := sidechecktest.Open(t, serveRefusals(t, refusals), nil)
	if verdict, err := client.Validate(t.Context(), schema, nil, nil); err != nil || !verdict.Valid {
		t.Errorf("got %+v, %v", verdict, err)
	}
}

// serveRefusals returns the address of a server that refuses a number of streams and finds the
// payload of each later one valid. It serves one connection.
func serveRefusals(t *testing.T, count int) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		connection, err := listener.Accept()
		if err == nil {
			err = refuseStreams(connection, count)
		}
		done <- err
	}()
	t.Cleanup(func() {
		// The client is closed, and with it the connection.
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// refuseStreams serves connection until its end.
func refuseStreams(connection net.Conn, count int) error {
	defer connection.Close()
	if _, err := io.CopyN(io.Discard, connection, int64(len(http2.ClientPreface))); err != nil {
		return err
	}
	framer := http2.NewFramer(connection, connection)
	if err := framer.WriteSettings(); err != nil {
		return err
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			// The client may reset the connection, too.
			return nil
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				err = framer.WritePing(true, frame.Data)
			}
		case *http2.HeadersFrame:
			if count > 0 {
				count--
				err = framer.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
			} else {
				err = writeValid(framer, frame.StreamID)
			}
		}
		if err != nil {
			return err
		}
	}
}

// writeValid writes the response with a valid verdict.
func writeValid(framer *http2.Framer, stream uint32) error {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	write := func(endStream bool, fields ...hpack.HeaderField) error {
		block.Reset()
		for _, field := range fields {
			if err := encoder.WriteField(field); err != nil {
				return err
			}
		}
		return framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: endStream,
		})
	}
	message, err := proto.Marshal(sidechecktest.Valid())
	if err != nil {
		return err
	}
	// A flag for compression and the length stand before a message.
	data := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	err = write(false, hpack.HeaderField{Name: ":status", Value: "200"},
		hpack.HeaderField{Name: "content-type", Value: "application/grpc"})
	if err != nil {
		return err
	}
	if err := framer.WriteData(stream, false, data); err != nil {
		return err
	}
	return write(true, hpack.HeaderField{Name: "grpc-status", Value: "0"})
}
