package sidecheck

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"google.golang.org/grpc"
)

// DefaultTimeout is the deadline of a call whose context has none.
const DefaultTimeout = 2 * time.Second

// CodeUnavailable is the code of the only violation of the verdicts that
// [OnUnavailableAllow] and [OnUnavailableDeny] stand for.
const CodeUnavailable = "SIDECHECK_UNAVAILABLE"

const deniedText = "This could not be validated and was rejected. Try again later."

// OnUnavailable is the policy for validations that no server answers. The zero value is
// [OnUnavailableError].
type OnUnavailable string

const (
	// OnUnavailableError returns an [*UnavailableError].
	OnUnavailableError OnUnavailable = "error"
	// OnUnavailableAllow returns a valid verdict with the warning [CodeUnavailable].
	OnUnavailableAllow OnUnavailable = "allow"
	// OnUnavailableDeny returns an invalid verdict with the violation [CodeUnavailable].
	OnUnavailableDeny OnUnavailable = "deny"
)

// ClientOptions are the options of a client. The zero value and a nil pointer are the defaults.
type ClientOptions struct {
	// Timeout is the deadline of each call whose context has none. 0 means [DefaultTimeout].
	Timeout time.Duration
	// OnUnavailable is the policy for validations and checks that no server answers. It does
	// not apply to streams, normalization, conversion, inference and the registry.
	OnUnavailable OnUnavailable
	// ProtocolVersion is the MCP protocol version of all requests that name none, for example
	// "2025-11-25". Empty means the one that the tool was registered under, or else the
	// default of the server.
	ProtocolVersion string
	// TLS secures the connection. Nil means plain text, for a server on the same machine or
	// in the same cluster. RootCAs, Certificates and ServerName are those of [tls.Config].
	TLS *tls.Config
	// Token is the bearer token of all calls, for a server that requires tokens; empty means none.
	// Without TLS it is sent to loopback addresses and unix sockets only.
	Token string
	// TokenFunc returns the token of each call, in place of Token, so that it may be replaced
	// while the client is in use. It is called for each attempt, also concurrently, with the
	// deadline of the call; its error ends the call, whose error wraps it. The context of a batch
	// that calls share has no values.
	TokenFunc func(context.Context) (string, error)
	// TokenWithoutTLS allows tokens in plain text on a network that is itself encrypted.
	TokenWithoutTLS bool
	// Coalesce lets concurrent calls of the four methods that validate one payload share
	// requests. A lone call is not delayed; with others under way it waits up to 2 ms. Verdicts
	// and errors are the same. A call whose context has outgoing metadata goes alone.
	Coalesce bool
}

// Client is a client of a Sidecheck server. Its methods may be called concurrently.
type Client struct {
	// Protocol checks tool names, tools and messages against the rules of MCP.
	Protocol *ProtocolClient
	// Conversion converts tools, calls and results for the APIs of model providers.
	Conversion *ConversionClient
	// Inference infers tool definitions and adapts them to protocol versions.
	Inference *InferenceClient

	connection *connection
	// coalescer shares requests among calls; nil if each has its own.
	coalescer *coalescer
}

// New returns a client of the server at address: "host:port", "dns:///host:port" for all
// addresses of a host name, "unix:/path" or "unix:path". It connects at the first call. The
// error wraps [ErrInvalidArgument].
func New(address string, options *ClientOptions) (*Client, error) {
	if options == nil {
		options = &ClientOptions{}
	}
	if options.Timeout < 0 {
		return nil, fmt.Errorf("%w: the timeout must be positive, not %v",
			ErrInvalidArgument, options.Timeout)
	}
	switch options.OnUnavailable {
	case "", OnUnavailableError, OnUnavailableAllow, OnUnavailableDeny:
	default:
		return nil, fmt.Errorf("%w: OnUnavailable %q is unknown", ErrInvalidArgument, options.OnUnavailable)
	}
	channel, err := dial(address, options)
	if err != nil {
		return nil, err
	}
	server := &peer{address: address, hasTLS: options.TLS != nil}
	if options.TLS != nil {
		server.serverName = options.TLS.ServerName
	}
	shared := &connection{
		channel:         channel,
		server:          server,
		timeout:         options.Timeout,
		onUnavailable:   options.OnUnavailable,
		protocolVersion: options.ProtocolVersion,
		closed:          make(chan struct{}),
	}
	if shared.timeout == 0 {
		shared.timeout = DefaultTimeout
	}
	client := &Client{
		Protocol:   &ProtocolClient{shared},
		Conversion: &ConversionClient{shared},
		Inference:  &InferenceClient{shared},
		connection: shared,
	}
	if options.Coalesce {
		client.coalescer = &coalescer{connection: shared}
	}
	return client, nil
}

// Close closes the connection. Pending calls fail with the reason CLIENT_CLOSED, as later ones
// do. Further calls of Close do nothing.
func (c *Client) Close() error { return c.connection.close() }

// Channel returns the connection, for what only the generated stubs of the package
// sidecheck/v1 offer. Their errors are those of gRPC, and their calls have no default deadline.
func (c *Client) Channel() grpc.ClientConnInterface { return c.connection.channel }

// MinRevision returns the least revision of the registry that requests read.
func (c *Client) MinRevision() uint64 { return c.connection.minRevision.Load() }

// SetMinRevision sets the least revision of the registry that later requests of all methods read; 0,
// the default, is any.
//
// Several servers may share a registry, and follow it. Given the revision that a registration or
// deletion returned, through whatever client, a request waits until its server has it. It fails with
// REVISION_NOT_REACHED if the server does not have it after 5 seconds, and by the deadline if that
// is earlier.
func (c *Client) SetMinRevision(revision uint64) { c.connection.minRevision.Store(revision) }

// Info returns the version, the limits and the capabilities of the server.
func (c *Client) Info(ctx context.Context) (*ServerInfo, error) {
	return c.connection.info(ctx, c.connection.timeout)
}

// Fallback returns the verdict that ClientOptions.OnUnavailable prescribes for err, or err itself
// if the policy does not apply to it. The methods that validate and check have done so; it is for
// programs that make a verdict depend on other calls.
func (c *Client) Fallback(err error) (*Verdict, error) { return c.connection.fallback(err) }
