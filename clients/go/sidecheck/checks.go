package sidecheck

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ProtocolClient checks names, definitions and messages against the rules of MCP:
// Client.Protocol. Violations are returned in verdicts. An error means that nothing could be
// checked, as with [Client.Validate]. ClientOptions.OnUnavailable applies to the methods that
// return a [CheckResult] or [CheckOutcome].
type ProtocolClient struct{ connection *connection }

// Rule is a requirement of the MCP specification, or advice of a model provider.
type Rule struct {
	// Code of its violations.
	Code string
	// Severity of its violations.
	Severity Severity
	// ProtocolVersions that have the rule, oldest first.
	ProtocolVersions []string
	// SpecURL is the URL of the section that states the rule, in the newest of these versions.
	SpecURL string
	// Requirement in one sentence.
	Requirement string
	// Subjects are the types of the protocol schema whose values are checked.
	Subjects []string
}

// ListRules yields the rules of a protocol version by code, or those of all versions if it is
// empty. They are fetched in pages. An error ends the iteration.
func (p *ProtocolClient) ListRules(ctx context.Context, version string) iter.Seq2[Rule, error] {
	return func(yield func(Rule, error) bool) {
		request := &pb.ListRulesRequest{ProtocolVersion: version}
		for {
			var response pb.ListRulesResponse
			err := p.connection.call(ctx, pb.ProtocolService_ListRules_FullMethodName, request, &response)
			if err != nil {
				yield(Rule{}, err)
				return
			}
			for _, rule := range response.GetRules() {
				decoded := Rule{
					Code:             rule.GetCode(),
					Severity:         decodeSeverity(rule.GetSeverity()),
					ProtocolVersions: rule.GetProtocolVersions(),
					SpecURL:          rule.GetSpecUrl(),
					Requirement:      rule.GetRequirement(),
					Subjects:         rule.GetSubjects(),
				}
				if !yield(decoded, nil) {
					return
				}
			}
			if request.PageToken = response.GetNextPageToken(); request.PageToken == "" {
				return
			}
		}
	}
}

// CheckElicitation checks the params of an elicitation/create request.
func (p *ProtocolClient) CheckElicitation(
	ctx context.Context, params any, options *CheckOptions,
) (*CheckResult, error) {
	return p.check(ctx, Elicitation{params}, options)
}

// CheckElicitationResult checks the result of an elicitation/create request.
func (p *ProtocolClient) CheckElicitationResult(
	ctx context.Context, result ElicitationResult, options *CheckOptions,
) (*CheckResult, error) {
	return p.check(ctx, result, options)
}

// CheckSampling checks the params of a sampling/createMessage request, with the whole history.
func (p *ProtocolClient) CheckSampling(
	ctx context.Context, params any, options *CheckOptions,
) (*CheckResult, error) {
	return p.check(ctx, Sampling{params}, options)
}

// CheckToolResult checks a CallToolResult.
func (p *ProtocolClient) CheckToolResult(
	ctx context.Context, result ToolResult, options *CheckOptions,
) (*CheckResult, error) {
	return p.check(ctx, result, options)
}

// CheckMessage checks a JSON-RPC message.
func (p *ProtocolClient) CheckMessage(
	ctx context.Context, message ProtocolMessage, options *CheckOptions,
) (*CheckResult, error) {
	return p.check(ctx, message, options)
}

// check checks one item, with the method for its kind.
func (p *ProtocolClient) check(
	ctx context.Context, item CheckItem, options *CheckOptions,
) (*CheckResult, error) {
	encoded, err := item.encodeItem()
	if err != nil {
		return nil, err
	}
	protocol, limits, err := options.encodeCheck(p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	var method string
	var request proto.Message
	var response interface {
		proto.Message
		GetResult() *pb.CheckResult
	}
	switch item := encoded.GetItem().(type) {
	case *pb.CheckItem_Elicitation:
		method, response = pb.ProtocolService_CheckElicitation_FullMethodName, &pb.CheckElicitationResponse{}
		request = &pb.CheckElicitationRequest{
			Context: protocol, Options: limits, Elicitation: item.Elicitation,
		}
	case *pb.CheckItem_ElicitationResult:
		method = pb.ProtocolService_CheckElicitationResult_FullMethodName
		response = &pb.CheckElicitationResultResponse{}
		request = &pb.CheckElicitationResultRequest{
			Context: protocol, Options: limits, ElicitationResult: item.ElicitationResult,
		}
	case *pb.CheckItem_Sampling:
		method, response = pb.ProtocolService_CheckSampling_FullMethodName, &pb.CheckSamplingResponse{}
		request = &pb.CheckSamplingRequest{Context: protocol, Options: limits, Sampling: item.Sampling}
	case *pb.CheckItem_ToolResult:
		method, response = pb.ProtocolService_CheckToolResult_FullMethodName, &pb.CheckToolResultResponse{}
		request = &pb.CheckToolResultRequest{
			Context: protocol, Options: limits, ToolResult: item.ToolResult,
			MinRevision: p.connection.minRevision.Load(),
		}
	case *pb.CheckItem_Message:
		method, response = pb.ProtocolService_CheckMessage_FullMethodName, &pb.CheckMessageResponse{}
		request = &pb.CheckMessageRequest{Context: protocol, Options: limits, Message: item.Message}
	}
	if err := p.connection.call(ctx, method, request, response); err != nil {
		verdict, err := p.connection.fallback(err)
		if err != nil {
			return nil, err
		}
		return &CheckResult{Verdict: verdict}, nil
	}
	if response.GetResult() == nil {
		return nil, missingField(response, "result")
	}
	return decodeCheckResult(response.GetResult())
}

// CheckBatch checks items of any kind and returns their outcomes in order. It splits as
// [Client.ValidateBatch] does.
func (p *ProtocolClient) CheckBatch(
	ctx context.Context, items []CheckItem, options *CheckOptions,
) ([]CheckOutcome, error) {
	messages := make([]*pb.CheckItem, 0, len(items))
	for index, item := range items {
		if item == nil {
			return nil, fmt.Errorf("%w: items[%d] is nil", ErrInvalidArgument, index)
		}
		message, err := item.encodeItem()
		if err != nil {
			return nil, fmt.Errorf("items[%d]: %w", index, err)
		}
		messages = append(messages, message)
	}
	protocol, limits, err := options.encodeCheck(p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	revision := p.connection.minRevision.Load()
	return callInParts(ctx, p.connection, messages, batchCall[*pb.CheckItem, CheckOutcome]{
		overhead: proto.Size(&pb.CheckBatchRequest{
			Context: protocol, Options: limits, MinRevision: revision,
		}),
		send: func(ctx context.Context, items []*pb.CheckItem) ([]CheckOutcome, error) {
			return p.checkBatch(ctx, &pb.CheckBatchRequest{
				Context: protocol, Options: limits, Items: items, MinRevision: revision,
			})
		},
		failed:  func(err error) CheckOutcome { return CheckOutcome{Err: err} },
		errorOf: func(outcome CheckOutcome) error { return outcome.Err },
		settle: func(outcome CheckOutcome) CheckOutcome {
			if outcome.Err == nil {
				return outcome
			}
			verdict, err := p.connection.fallback(outcome.Err)
			if err != nil {
				return CheckOutcome{Err: err}
			}
			return CheckOutcome{Result: &CheckResult{Verdict: verdict}}
		},
	})
}

func (p *ProtocolClient) checkBatch(
	ctx context.Context, request *pb.CheckBatchRequest,
) ([]CheckOutcome, error) {
	var response pb.CheckBatchResponse
	err := p.connection.call(ctx, pb.ProtocolService_CheckBatch_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	outcomes := make([]CheckOutcome, 0, len(response.GetOutcomes()))
	for _, message := range response.GetOutcomes() {
		outcome, err := decodeCheckOutcome(message)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

// decodeCheckOutcome returns the outcome in message. The error means that the response is
// invalid.
func decodeCheckOutcome(message *pb.CheckOutcome) (CheckOutcome, error) {
	if result := message.GetResult(); result != nil {
		decoded, err := decodeCheckResult(result)
		return CheckOutcome{Result: decoded}, err
	}
	err := decodeItemError(message.GetError())
	if isInvalidResponse(err) {
		return CheckOutcome{}, err
	}
	return CheckOutcome{Err: err}, nil
}
