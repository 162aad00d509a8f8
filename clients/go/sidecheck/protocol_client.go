package sidecheck

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ProtocolClient checks messages and definitions against the MCP specification, by protocol
// version: [Client.Protocol]. Violations are returned. [ClientOptions.OnUnavailable] applies
// to methods that return a [CheckResult] and to items of a batch. Where options are nil, the
// server's defaults apply.
type ProtocolClient struct{ connection *connection }

// Rule is a requirement of the MCP specification, or advice of a model provider.
type Rule struct {
	// Code of its violations.
	Code string
	// Severity of its violations.
	Severity Severity
	// ProtocolVersions are those that have the rule, oldest first.
	ProtocolVersions []string
	// SpecURL is the section that states the rule, in the newest of these versions.
	SpecURL string
	// Requirement is one sentence.
	Requirement string
	// Subjects are the types of the protocol schema whose values are checked.
	Subjects []string
}

// ListRules yields the rules of a protocol version, of all if it is empty, by code. The
// protocol version of the client does not apply. They are fetched in pages; the timeout of
// the client is that of each. After an error nothing follows.
func (p *ProtocolClient) ListRules(
	ctx context.Context, protocolVersion string,
) iter.Seq2[*Rule, error] {
	return func(yield func(*Rule, error) bool) {
		request := &sidecheckv1.ListRulesRequest{ProtocolVersion: protocolVersion}
		for {
			response, err := call[sidecheckv1.ListRulesResponse](
				ctx, p.connection, sidecheckv1.ProtocolService_ListRules_FullMethodName,
				request, p.connection.timeout)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, message := range response.GetRules() {
				rule := &Rule{
					Code:             message.GetCode(),
					Severity:         decodeEnum[Severity](severityWords, message.GetSeverity()),
					ProtocolVersions: message.GetProtocolVersions(),
					SpecURL:          message.GetSpecUrl(),
					Requirement:      message.GetRequirement(),
					Subjects:         message.GetSubjects(),
				}
				if !yield(rule, nil) {
					return
				}
			}
			if request.PageToken = response.GetNextPageToken(); request.PageToken == "" {
				return
			}
		}
	}
}

// CheckElicitation checks the params of an elicitation/create request, as JSON.
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

// CheckSampling checks the params of a sampling/createMessage request, as JSON, with the
// complete history.
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

// CheckMessage checks a JSON-RPC message, or a batch of them.
func (p *ProtocolClient) CheckMessage(
	ctx context.Context, message ProtocolMessage, options *CheckOptions,
) (*CheckResult, error) {
	return p.check(ctx, message, options)
}

// resultResponse is a response with the result of one check.
type resultResponse interface {
	GetResult() *sidecheckv1.CheckResult
}

// check sends item with the method for its kind.
func (p *ProtocolClient) check(
	ctx context.Context, item CheckItem, options *CheckOptions,
) (*CheckResult, error) {
	context, checkOptions, err := encodeCheckOptions(options, p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	message, err := item.encodeCheckItem()
	if err != nil {
		return nil, err
	}
	var response resultResponse
	switch item := message.Item.(type) {
	case *sidecheckv1.CheckItem_Elicitation:
		response, err = call[sidecheckv1.CheckElicitationResponse](
			ctx, p.connection, sidecheckv1.ProtocolService_CheckElicitation_FullMethodName,
			&sidecheckv1.CheckElicitationRequest{
				Context: context, Options: checkOptions, Elicitation: item.Elicitation,
			}, p.connection.timeout)
	case *sidecheckv1.CheckItem_ElicitationResult:
		response, err = call[sidecheckv1.CheckElicitationResultResponse](
			ctx, p.connection, sidecheckv1.ProtocolService_CheckElicitationResult_FullMethodName,
			&sidecheckv1.CheckElicitationResultRequest{
				Context: context, Options: checkOptions, ElicitationResult: item.ElicitationResult,
			}, p.connection.timeout)
	case *sidecheckv1.CheckItem_Sampling:
		response, err = call[sidecheckv1.CheckSamplingResponse](
			ctx, p.connection, sidecheckv1.ProtocolService_CheckSampling_FullMethodName,
			&sidecheckv1.CheckSamplingRequest{
				Context: context, Options: checkOptions, Sampling: item.Sampling,
			}, p.connection.timeout)
	case *sidecheckv1.CheckItem_ToolResult:
		response, err = call[sidecheckv1.CheckToolResultResponse](
			ctx, p.connection, sidecheckv1.ProtocolService_CheckToolResult_FullMethodName,
			&sidecheckv1.CheckToolResultRequest{
				Context: context, Options: checkOptions, ToolResult: item.ToolResult,
			}, p.connection.timeout)
	case *sidecheckv1.CheckItem_Message:
		response, err = call[sidecheckv1.CheckMessageResponse](
			ctx, p.connection, sidecheckv1.ProtocolService_CheckMessage_FullMethodName,
			&sidecheckv1.CheckMessageRequest{
				Context: context, Options: checkOptions, Message: item.Message,
			}, p.connection.timeout)
	}
	if err != nil {
		var verdict *Verdict
		if err := p.connection.settle(err, &verdict); err != nil {
			return nil, err
		}
		return &CheckResult{Verdict: verdict}, nil
	}
	return decodeCheckResult(response.GetResult())
}

// CheckBatch checks items of any kind and returns their outcomes in the same order. A batch
// beyond the server's limits is sent in several calls, as in [Client.ValidateBatch].
func (p *ProtocolClient) CheckBatch(
	ctx context.Context, items []CheckItem, options *CheckOptions,
) ([]CheckOutcome, error) {
	messages := make([]*sidecheckv1.CheckItem, len(items))
	for index, item := range items {
		if item == nil {
			return nil, fmt.Errorf("sidecheck: item %d is nil", index)
		}
		message, err := item.encodeCheckItem()
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", index, err)
		}
		messages[index] = message
	}
	var frame sidecheckv1.CheckBatchRequest
	var err error
	frame.Context, frame.Options, err = encodeCheckOptions(options, p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	fail := func(err error) CheckOutcome {
		var verdict *Verdict
		if err := p.connection.settle(err, &verdict); err != nil {
			return CheckOutcome{Err: err}
		}
		return CheckOutcome{Result: &CheckResult{Verdict: verdict}}
	}
	send := func(ctx context.Context, items []*sidecheckv1.CheckItem) ([]CheckOutcome, error) {
		request := proto.Clone(&frame).(*sidecheckv1.CheckBatchRequest)
		request.Items = items
		return p.checkBatch(ctx, request, fail)
	}
	return callInParts(ctx, p.connection, messages, &frame, send, fail)
}

// checkBatch sends one batch within the limits of the server.
func (p *ProtocolClient) checkBatch(
	ctx context.Context, request *sidecheckv1.CheckBatchRequest, fail func(error) CheckOutcome,
) ([]CheckOutcome, error) {
	response, err := call[sidecheckv1.CheckBatchResponse](
		ctx, p.connection, sidecheckv1.ProtocolService_CheckBatch_FullMethodName,
		request, p.connection.timeout)
	if err != nil {
		return nil, err
	}
	if err := checkCount(
		"CheckBatchResponse.outcomes", response.GetOutcomes(), len(request.Items),
	); err != nil {
		return nil, err
	}
	outcomes := make([]CheckOutcome, len(request.Items))
	for index, message := range response.GetOutcomes() {
		outcome, err := decodeCheckOutcome(message)
		if err != nil {
			return nil, err
		}
		if outcome.Err != nil {
			outcome = fail(outcome.Err)
		}
		outcomes[index] = outcome
	}
	return outcomes, nil
}
