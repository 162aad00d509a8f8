package sidecheck

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Validate validates the arguments of a tool call against target. Nil options are the defaults.
//
// The error wraps [ErrInvalidArgument] if the arguments cannot be encoded, contains an [*Error]
// if no verdict was possible, and is [context.Canceled] if ctx was cancelled.
func (c *Client) Validate(
	ctx context.Context, target Target, arguments any, options *Options,
) (*Verdict, error) {
	return c.validate(ctx, Item{Arguments{arguments}, target, options})
}

// ValidateStructuredContent validates the structured content of a tool result, or [Absent];
// otherwise it is as [Client.Validate].
func (c *Client) ValidateStructuredContent(
	ctx context.Context, target Target, content any, options *Options,
) (*Verdict, error) {
	return c.validate(ctx, Item{StructuredContent{content}, target, options})
}

// ValidateCall validates the whole params of a tools/call request; otherwise it is as
// [Client.Validate]. A [RegisteredTool] needs no name: that in the params selects the tool.
func (c *Client) ValidateCall(
	ctx context.Context, target Target, params any, options *Options,
) (*Verdict, error) {
	return c.validate(ctx, Item{CallParams{params}, target, options})
}

// ValidateCallResult validates a whole CallToolResult; otherwise it is as [Client.Validate].
func (c *Client) ValidateCallResult(
	ctx context.Context, target Target, result any, options *Options,
) (*Verdict, error) {
	return c.validate(ctx, Item{CallResult{result}, target, options})
}

func (c *Client) validate(ctx context.Context, item Item) (*Verdict, error) {
	message, err := item.encode(c.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	if item.Options == nil {
		if message.Options, err = item.Options.encode(c.connection.protocolVersion); err != nil {
			return nil, err
		}
	}
	request := &pb.ValidateRequest{
		Target: message.GetTarget(), Subject: message.GetSubject(), Options: message.GetOptions(),
		MinRevision: c.connection.minRevision.Load(),
	}
	var verdict *Verdict
	if c.coalescer != nil {
		verdict, err = c.coalescer.validate(ctx, request)
	} else {
		verdict, err = c.connection.validate(ctx, request)
	}
	if err != nil {
		return c.connection.fallback(err)
	}
	return verdict, nil
}

// validate returns the verdict on the payload in request.
func (c *connection) validate(ctx context.Context, request *pb.ValidateRequest) (*Verdict, error) {
	var response pb.ValidateResponse
	err := c.call(ctx, pb.ValidationService_Validate_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	if response.GetVerdict() == nil {
		return nil, missingField(&response, "verdict")
	}
	return decodeVerdict(response.GetVerdict(), response.GetRegistryRevision()), nil
}

// Outcome is the outcome of one item of a batch or stream. Exactly one field is set.
type Outcome struct {
	// Verdict on the item.
	Verdict *Verdict
	// Err says why no verdict was possible.
	Err error
}

// BatchOptions are what the items of a batch share. The zero value and a nil pointer leave both
// to the items.
type BatchOptions struct {
	// Target of the items without their own.
	Target Target
	// Options of the items without their own.
	Options *Options
}

// ValidateBatch validates many payloads and returns their outcomes in order. Nil options leave
// the target to the items.
//
// A batch beyond the limits of the server is sent in several calls; without a deadline of ctx,
// each has that of the client. An item that fits in no message has the error LIMIT_EXCEEDED and
// does not affect the others; those that an unavailable server did not answer have its error, unless
// ClientOptions.OnUnavailable says otherwise. An error means that the batch as a whole failed;
// nothing was sent if it wraps [ErrInvalidArgument].
func (c *Client) ValidateBatch(
	ctx context.Context, items []Item, options *BatchOptions,
) ([]Outcome, error) {
	if options == nil {
		options = &BatchOptions{}
	}
	version := c.connection.protocolVersion
	messages := make([]*pb.ValidateItem, 0, len(items))
	for _, item := range items {
		message, err := item.encode(version)
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	target, err := encodeTarget(options.Target)
	if err != nil {
		return nil, err
	}
	shared, err := options.Options.encode(version)
	if err != nil {
		return nil, err
	}
	revision := c.connection.minRevision.Load()
	request := &pb.ValidateBatchRequest{Target: target, Options: shared, MinRevision: revision}
	return callInParts(ctx, c.connection, messages, batchCall[*pb.ValidateItem, Outcome]{
		overhead: proto.Size(request),
		send: func(ctx context.Context, items []*pb.ValidateItem) ([]Outcome, error) {
			return c.connection.validateBatch(ctx, &pb.ValidateBatchRequest{
				Target: target, Options: shared, Items: items, MinRevision: revision,
			})
		},
		failed:  func(err error) Outcome { return Outcome{Err: err} },
		errorOf: func(outcome Outcome) error { return outcome.Err },
		settle:  c.connection.settle,
	})
}

// validateBatch returns the outcomes of the items in request.
func (c *connection) validateBatch(
	ctx context.Context, request *pb.ValidateBatchRequest,
) ([]Outcome, error) {
	var response pb.ValidateBatchResponse
	err := c.call(ctx, pb.ValidationService_ValidateBatch_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, 0, len(response.GetOutcomes()))
	for _, outcome := range response.GetOutcomes() {
		decoded := decodeOutcome(outcome, response.GetRegistryRevision())
		if isInvalidResponse(decoded.Err) {
			return nil, decoded.Err
		}
		outcomes = append(outcomes, decoded)
	}
	return outcomes, nil
}

// settle returns outcome with the policy applied to its error.
func (c *connection) settle(outcome Outcome) Outcome {
	if outcome.Err == nil {
		return outcome
	}
	verdict, err := c.fallback(outcome.Err)
	return Outcome{verdict, err}
}

func decodeOutcome(message *pb.ValidateOutcome, revision uint64) Outcome {
	if verdict := message.GetVerdict(); verdict != nil {
		return Outcome{Verdict: decodeVerdict(verdict, revision)}
	}
	return Outcome{Err: decodeItemError(message.GetError())}
}
