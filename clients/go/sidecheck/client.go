package sidecheck

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

const (
	defaultTimeout = 2 * time.Second
	// registerTimeout is longer than the default, because schemas are compiled.
	registerTimeout = 30 * time.Second
)

// OnUnavailable is the policy for validations and checks that no server answers.
type OnUnavailable string

// Policies.
const (
	// OnUnavailableError returns the error; it is the default.
	OnUnavailableError OnUnavailable = "error"
	// OnUnavailableAllow returns a valid verdict with a warning.
	OnUnavailableAllow OnUnavailable = "allow"
	// OnUnavailableDeny returns an invalid verdict.
	OnUnavailableDeny OnUnavailable = "deny"
)

// ClientOptions are the options of a [Client]. Zero values are the defaults.
type ClientOptions struct {
	// Timeout is the deadline of each call whose context has none; 0 means two seconds.
	// [Client.Register] has 30 seconds.
	Timeout time.Duration
	// OnUnavailable is the policy for validations and checks that no server answers:
	// [ErrUnavailable], or a verdict with a violation of the code SIDECHECK_UNAVAILABLE. It
	// does not apply to streams, normalization, conversions and the registry.
	OnUnavailable OnUnavailable
	// ProtocolVersion is the MCP protocol version of all requests that name none, for
	// example 2025-11-25. Empty means the version that a tool was registered under, or else
	// the server's default.
	ProtocolVersion string
	// TLS is the configuration of the connection; nil means plain text.
	TLS *tls.Config
	// Coalesce lets concurrent single validations share requests, with the same results. A
	// validation that finds no other outstanding is sent at once; one that does waits for
	// at most two milliseconds.
	Coalesce bool
}

// Client is a client of a Sidecheck server. It connects when it is first used, and is safe
// for concurrent use.
type Client struct {
	// Protocol checks messages and definitions against the MCP specification.
	Protocol *ProtocolClient
	// Conversion converts tools, calls and results for the APIs of model providers.
	Conversion *ConversionClient
	// Inference infers tool definitions and adapts them to protocol versions.
	Inference *InferenceClient

	connection *connection
	// coalescer is nil unless the options ask for it.
	coalescer *coalescer
}

// NewClient returns a client of the server at address: host:port, dns:///host:port for all
// addresses of a host name, unix:/path or unix:path. With nil, options are the defaults. It
// fails only for invalid arguments.
func NewClient(address string, options *ClientOptions) (*Client, error) {
	if options == nil {
		options = &ClientOptions{}
	}
	if options.Timeout < 0 {
		return nil, fmt.Errorf("sidecheck: negative timeout %v", options.Timeout)
	}
	switch options.OnUnavailable {
	case "", OnUnavailableError, OnUnavailableAllow, OnUnavailableDeny:
	default:
		return nil, fmt.Errorf(
			`sidecheck: invalid OnUnavailable %q; expected one of "error", "allow", "deny"`,
			string(options.OnUnavailable))
	}
	conn, err := dial(address, *options)
	if err != nil {
		return nil, err
	}
	connection := &connection{
		conn:            conn,
		timeout:         options.Timeout,
		policy:          options.OnUnavailable,
		protocolVersion: options.ProtocolVersion,
	}
	if connection.timeout == 0 {
		connection.timeout = defaultTimeout
	}
	client := &Client{
		Protocol:   &ProtocolClient{connection},
		Conversion: &ConversionClient{connection},
		Inference:  &InferenceClient{connection},
		connection: connection,
	}
	if options.Coalesce {
		client.coalescer = newCoalescer(connection)
	}
	return client, nil
}

// Close closes the connection. Pending calls fail with [ErrClientClosed].
func (c *Client) Close() error {
	err := c.connection.close()
	if c.coalescer != nil {
		c.coalescer.close()
	}
	return err
}

// Conn returns the connection of the client, for the generated stubs of
// [github.com/sidecheck/sidecheck/clients/go/sidecheck/v1]. Calls through them are retried
// as those of the client, but have neither its deadline nor its errors. Do not close it.
func (c *Client) Conn() grpc.ClientConnInterface { return c.connection.conn }

// Validate validates the arguments of a tool call, which are JSON, against the input schema
// of target. With nil, options are the defaults.
func (c *Client) Validate(
	ctx context.Context, target Target, arguments any, options *ValidationOptions,
) (*Verdict, error) {
	return c.validate(ctx, Item{Arguments{arguments}, target, options})
}

// ValidateStructuredContent validates the structured content of a tool result, which is JSON
// or [Absent], against the output schema of target.
func (c *Client) ValidateStructuredContent(
	ctx context.Context, target Target, content any, options *ValidationOptions,
) (*Verdict, error) {
	return c.validate(ctx, Item{StructuredContent{content}, target, options})
}

// ValidateCall validates the complete params of a tools/call request; see [CallParams]. If the
// tool is unknown, the error has the JSON-RPC error to send ([Error.JSONRPCError]).
func (c *Client) ValidateCall(
	ctx context.Context, target Target, params any, options *ValidationOptions,
) (*Verdict, error) {
	return c.validate(ctx, Item{CallParams{params}, target, options})
}

// ValidateCallResult validates a complete CallToolResult; see [CallResult].
func (c *Client) ValidateCallResult(
	ctx context.Context, target Target, result any, options *ValidationOptions,
) (*Verdict, error) {
	return c.validate(ctx, Item{CallResult{result}, target, options})
}

func (c *Client) validate(ctx context.Context, item Item) (*Verdict, error) {
	options := item.Options
	item.Options = nil
	message, err := encodeItem(item, "")
	if err != nil {
		return nil, err
	}
	if message.Options, err = encodeOptions(options, c.connection.protocolVersion); err != nil {
		return nil, err
	}
	var verdict *Verdict
	if c.coalescer != nil {
		verdict, err = c.coalescer.validate(ctx, message)
	} else {
		verdict, err = c.connection.validate(ctx, message)
	}
	return verdict, c.connection.settle(err, &verdict)
}

// validate returns the verdict on one payload, in a request of its own.
func (c *connection) validate(
	ctx context.Context, item *sidecheckv1.ValidateItem,
) (*Verdict, error) {
	request := &sidecheckv1.ValidateRequest{
		Target: item.Target, Subject: item.Subject, Options: item.Options,
	}
	response, err := call[sidecheckv1.ValidateResponse](
		ctx, c, sidecheckv1.ValidationService_Validate_FullMethodName, request, c.timeout)
	if err != nil {
		return nil, err
	}
	if response.GetVerdict() == nil {
		return nil, missing("ValidateResponse.verdict")
	}
	return decodeVerdict(response.GetVerdict(), response.GetRegistryRevision()), nil
}

// FallBack applies [ClientOptions.OnUnavailable] to an error that it does not apply to by
// itself, such as that of a stream or a registration: it returns the verdict in place of
// [ErrUnavailable], or err if the policy has none.
func (c *Client) FallBack(err error) (*Verdict, error) {
	var verdict *Verdict
	err = c.connection.settle(err, &verdict)
	return verdict, err
}

// settle applies the policy to err: it sets verdict and returns nil if the policy has one in
// place of the error.
func (c *connection) settle(err error, verdict **Verdict) error {
	var failure *Error
	if !errors.As(err, &failure) {
		return err
	}
	fallback, settled := c.policy.fallBack(failure)
	if settled != nil {
		return err
	}
	*verdict = fallback
	return nil
}

// ValidateBatch validates several payloads and returns their outcomes in the same order.
// target and options apply to items without their own, and may be nil.
//
// A batch beyond the server's limits is sent in several calls; the timeout of the client
// is that of each, the deadline of ctx that of all. An item without a verdict has its own
// error, also [ErrUnavailable] if no server answered. If the batch as a whole fails for another
// reason, the error is returned and no outcome.
func (c *Client) ValidateBatch(
	ctx context.Context, items []Item, target Target, options *ValidationOptions,
) ([]ValidateOutcome, error) {
	version := c.connection.protocolVersion
	messages := make([]*sidecheckv1.ValidateItem, len(items))
	for index, item := range items {
		message, err := encodeItem(item, version)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", index, err)
		}
		messages[index] = message
	}
	var frame sidecheckv1.ValidateBatchRequest
	var err error
	if frame.Target, err = encodeTarget(target); err != nil {
		return nil, err
	}
	if frame.Options, err = encodeOptions(options, version); err != nil {
		return nil, err
	}
	fail := func(err error) ValidateOutcome {
		var verdict *Verdict
		err = c.connection.settle(err, &verdict)
		return ValidateOutcome{verdict, err}
	}
	send := func(ctx context.Context, items []*sidecheckv1.ValidateItem) ([]ValidateOutcome, error) {
		outcomes, err := c.connection.validateBatch(ctx, &sidecheckv1.ValidateBatchRequest{
			Target: frame.Target, Options: frame.Options, Items: items,
		})
		for index, outcome := range outcomes {
			if outcome.Err != nil {
				outcomes[index] = fail(outcome.Err)
			}
		}
		return outcomes, err
	}
	return callInParts(ctx, c.connection, messages, &frame, send, fail)
}

// validateBatch sends one batch within the limits of the server.
func (c *connection) validateBatch(
	ctx context.Context, request *sidecheckv1.ValidateBatchRequest,
) ([]ValidateOutcome, error) {
	response, err := call[sidecheckv1.ValidateBatchResponse](
		ctx, c, sidecheckv1.ValidationService_ValidateBatch_FullMethodName, request, c.timeout)
	if err != nil {
		return nil, err
	}
	if err := checkCount(
		"ValidateBatchResponse.outcomes", response.GetOutcomes(), len(request.GetItems()),
	); err != nil {
		return nil, err
	}
	outcomes := make([]ValidateOutcome, len(response.GetOutcomes()))
	for index, message := range response.GetOutcomes() {
		outcome, err := decodeOutcome(message, response.GetRegistryRevision())
		if err != nil {
			return nil, err
		}
		outcomes[index] = outcome
	}
	return outcomes, nil
}
