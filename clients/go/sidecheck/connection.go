package sidecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// serviceConfig retries UNAVAILABLE only: it is transient, and the server has not processed
// the call. Streams are not retried: gRPC would replay their items, as far as it has
// buffered them. gRPC silently ignores names that are not fully qualified. The verb is the
// load balancing, with a comma.
const serviceConfig = `{%s
  "methodConfig": [{
    "name": [
      {"service": "sidecheck.v1.ValidationService"},
      {"service": "sidecheck.v1.RegistryService"},
      {"service": "sidecheck.v1.ProtocolService"},
      {"service": "sidecheck.v1.ConversionService"},
      {"service": "sidecheck.v1.InferenceService"},
      {"service": "sidecheck.v1.InfoService"}
    ],
    "retryPolicy": {
      "maxAttempts": 5,
      "initialBackoff": "0.01s",
      "maxBackoff": "1s",
      "backoffMultiplier": 4,
      "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }, {
    "name": [
      {"service": "sidecheck.v1.ValidationService", "method": "ValidateStream"},
      {"service": "sidecheck.v1.ProtocolService", "method": "CheckSession"}
    ]
  }]
}`

var hostAndPort = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(\d{1,5})$`)

// checkAddress returns an error unless address has one of the forms that [NewClient] accepts.
// gRPC itself would assume port 443 where it is missing, and take an unknown scheme for a
// host name.
func checkAddress(address string) error {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if strings.Trim(path, "/") != "" {
			return nil
		}
	} else if parts := hostAndPort.FindStringSubmatch(strings.TrimPrefix(address, "dns:///")); parts != nil {
		if port, err := strconv.Atoi(parts[2]); err == nil && 0 < port && port < 1<<16 {
			return nil
		}
	}
	return fmt.Errorf(
		"sidecheck: invalid address %q; expected host:port, dns:///host:port or unix:/path", address)
}

// connection makes the calls of one client, with its deadline and policy.
type connection struct {
	conn            *grpc.ClientConn
	timeout         time.Duration
	policy          OnUnavailable
	protocolVersion string
	limits          atomic.Pointer[Limits]
	closed          atomic.Bool
}

func dial(address string, options ClientOptions) (*grpc.ClientConn, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	balancing := ""
	if strings.HasPrefix(address, "dns:") {
		// A host name with several addresses has a server at each of them.
		balancing = `"loadBalancingConfig": [{"round_robin": {}}],`
	}
	dialOptions := []grpc.DialOption{
		grpc.WithDefaultServiceConfig(fmt.Sprintf(serviceConfig, balancing)),
		// A service config in a DNS record would replace this one.
		grpc.WithDisableServiceConfig(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 30 * time.Second, Timeout: 10 * time.Second,
		}),
		// Bounds the time until a restarted server is found again; gRPC's default is two
		// minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
				MaxDelay: 2 * time.Second,
			},
			MinConnectTimeout: 20 * time.Second,
		}),
		// The server limits what it receives. A limit on responses could only lose them.
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}
	if options.TLS != nil {
		dialOptions = append(dialOptions,
			grpc.WithTransportCredentials(credentials.NewTLS(options.TLS)))
	} else {
		dialOptions = append(dialOptions,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			// Plain text for a server nearby must not pass through a forward proxy.
			grpc.WithNoProxy())
	}
	return grpc.NewClient(address, dialOptions...)
}

// withDeadline returns ctx with the deadline of a call: its own, or timeout from now on.
func withDeadline(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// responseOf is a pointer to a response message.
type responseOf[Response any] interface {
	*Response
	proto.Message
}

// unaryCall describes a call with one response. gRPC reports a unary call that ends without a
// response, or with several, in the same way as an error of the server; read as a stream,
// they can be told apart.
var unaryCall = &grpc.StreamDesc{ServerStreams: true}

// call returns the response of method to request, within timeout unless ctx has a deadline.
func call[Response any, Pointer responseOf[Response]](
	ctx context.Context, c *connection, method string, request proto.Message, timeout time.Duration,
) (*Response, error) {
	data, err := encodeRequest(request)
	if err != nil {
		return nil, err
	}
	callCtx, cancel := withDeadline(ctx, timeout)
	defer cancel()
	response := new(Response)
	if err := c.exchange(callCtx, method, data, Pointer(response)); err != nil {
		err = c.decodeFailure(ctx, err)
		var failure *Error
		if errors.As(err, &failure) && failure.Reason == "LIMIT_EXCEEDED" {
			// The server may have been replaced by one with lower limits.
			c.limits.Store(nil)
		}
		return nil, err
	}
	return response, nil
}

// exchange sends request and receives response. The error is an [*Error] if the response is
// invalid, and that of gRPC otherwise.
func (c *connection) exchange(
	ctx context.Context, method string, request encoded, response proto.Message,
) error {
	stream, err := c.conn.NewStream(ctx, unaryCall, method, withCallCodec)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	first := received{message: response}
	if err := stream.RecvMsg(&first); errors.Is(err, io.EOF) {
		return invalidResponse("the call ended without an error and without a %s", first.name())
	} else if err != nil {
		return err
	}
	second := received{message: response.ProtoReflect().New().Interface()}
	if err := stream.RecvMsg(&second); err == nil {
		return invalidResponse("the call has more than one %s", first.name())
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return first.err()
}

// decodeFailure returns the error for the caller of a call with the context ctx, where err is
// that of gRPC.
func (c *connection) decodeFailure(ctx context.Context, err error) error {
	var failure *Error
	switch {
	case errors.As(err, &failure):
		return err
	case c.closed.Load():
		return clientClosed()
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	}
	return decodeCallError(statusOf(err).Proto())
}

// statusOf returns the status of a failed call as the server sent it. That of status.Convert
// has the text of what wraps it, such as the number of attempts.
func statusOf(err error) *status.Status {
	var failed interface{ GRPCStatus() *status.Status }
	if errors.As(err, &failed) {
		return failed.GRPCStatus()
	}
	return status.FromContextError(err)
}

// close ends the connection; pending calls fail.
func (c *connection) close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.conn.Close()
}
