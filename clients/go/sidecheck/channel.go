package sidecheck

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

var hostAndPort = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(\d{1,5})$`)

// socketPath is the path of a unix socket: relative, or after one or three slashes. After two, gRPC
// expects a host.
var socketPath = regexp.MustCompile(`^(/|///+)?[^/]`)

// checkAddress returns an error unless address is host:port, dns:///host:port, unix:/path or
// unix:path. gRPC itself would take an unknown scheme for a host name.
func checkAddress(address string) error {
	if path, isUnix := strings.CutPrefix(address, "unix:"); isUnix {
		if socketPath.MatchString(path) {
			return nil
		}
	} else if match := hostAndPort.FindStringSubmatch(strings.TrimPrefix(address, "dns:///")); match != nil {
		if port, err := strconv.Atoi(match[2]); err == nil && 0 < port && port < 1<<16 {
			return nil
		}
	}
	return fmt.Errorf("%w: address %q; expected host:port, dns:///host:port or unix:/path",
		ErrInvalidArgument, address)
}

// dial returns a connection to address, which is made at the first call.
func dial(address string, settings *ClientOptions) (*grpc.ClientConn, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	config, err := serviceConfig(address)
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithDefaultServiceConfig(config),
		grpc.WithDisableServiceConfig(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 30 * time.Second, Timeout: 10 * time.Second,
		}),
		// Bounds the time until a restarted server is found again; the default of gRPC is two
		// minutes. It is shorter than the retries of one call take (0.7 s at least), so that
		// the first call after the start of a server succeeds.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond,
			},
			MinConnectTimeout: 20 * time.Second,
		}),
		// The server limits what it receives. A limit on responses could only lose them.
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32),
		),
	}
	tokens, err := newTokenCredentials(address, settings)
	if err != nil {
		return nil, err
	}
	if tokens != nil {
		options = append(options, grpc.WithPerRPCCredentials(tokens))
	}
	if settings.TLS == nil {
		// Plain text for a server nearby must not pass through a forward proxy.
		options = append(options,
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	} else {
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(settings.TLS)))
	}
	channel, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("%w: address %q: %w", ErrInvalidArgument, address, err)
	}
	return channel, nil
}

type methodName struct {
	Service string `json:"service"`
	Method  string `json:"method,omitempty"`
}

// serviceConfig returns the gRPC service config for address. Only UNAVAILABLE is retried: it is
// transient, and the server has not processed the call. Streams are not retried: gRPC would
// replay their items, as far as it has buffered them.
func serviceConfig(address string) (string, error) {
	type object = map[string]any
	var services, streams []methodName
	for _, service := range []grpc.ServiceDesc{
		pb.ValidationService_ServiceDesc, pb.RegistryService_ServiceDesc, pb.ProtocolService_ServiceDesc,
		pb.ConversionService_ServiceDesc, pb.InferenceService_ServiceDesc, pb.InfoService_ServiceDesc,
	} {
		services = append(services, methodName{Service: service.ServiceName})
		for _, stream := range service.Streams {
			streams = append(streams, methodName{service.ServiceName, stream.StreamName})
		}
	}
	config := object{"methodConfig": []object{
		{"name": streams},
		{"name": services, "retryPolicy": object{
			"maxAttempts":          5,
			"initialBackoff":       "0.01s",
			"maxBackoff":           "1s",
			"backoffMultiplier":    4,
			"retryableStatusCodes": []string{"UNAVAILABLE"},
		}},
	}}
	if strings.HasPrefix(address, "dns:") {
		// A host name with several addresses has a server at each of them.
		config["loadBalancingConfig"] = []object{{"round_robin": object{}}}
	}
	text, err := json.Marshal(config)
	return string(text), err
}
