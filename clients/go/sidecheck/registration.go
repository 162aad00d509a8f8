package sidecheck

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// registrationTimeout is the deadline of a registration whose context has none: definitions
// are compiled.
const registrationTimeout = 30 * time.Second

// Action is the effect of a registration on one name. It is empty for effects that this release
// does not know.
type Action string

const (
	// ActionCreated means that the name was not registered before.
	ActionCreated Action = "created"
	// ActionChanged means that the name had another definition or protocol version before.
	ActionChanged Action = "changed"
	// ActionUnchanged means that the name had the same definition before.
	ActionUnchanged Action = "unchanged"
	// ActionRejected means that the definition was not registered; the violations say why.
	ActionRejected Action = "rejected"
)

// Registration is the result of a registration.
type Registration struct {
	// Outcomes of the definitions, in order.
	Outcomes []RegistrationOutcome
	// Removed are the names that RegisterOptions.Replace removed, in order.
	Removed []string
	// Kept are the names that RegisterOptions.Replace would have removed, in order, and that
	// RegisterOptions.Compatibility kept.
	Kept []string
	// RegistryRevision is the revision of the registry after the call.
	RegistryRevision uint64
}

// RegistrationOutcome is the outcome of the registration of one definition.
type RegistrationOutcome struct {
	// Name of the tool; empty if the definition has none.
	Name string
	// Action is the effect, or with RegisterOptions.ValidateOnly the one that it would have.
	Action Action
	// Violations of the definition. Instance locations point into it. One of [SeverityError]
	// rejects it.
	Violations []Violation
	// DefinitionDigest is the digest of the definition; empty if it is not JSON.
	DefinitionDigest string
	// InputSchemaDigest is the digest of the input schema; empty if the tool was rejected.
	InputSchemaDigest string
	// OutputSchemaDigest is the digest of the output schema; empty if there is none or the tool
	// was rejected.
	OutputSchemaDigest string
	// PreviousDefinitionDigest is the digest of the definition registered before; empty if
	// there was none.
	PreviousDefinitionDigest string
	// Comparison with the definition registered before; nil if there was none, if it is the same, or
	// without RegisterOptions.Compatibility.
	Comparison *ToolComparison
}

// Register registers tools of one server. [ParseTools] reads those of a tools/list result.
//
// Each definition has its own outcome. If one is rejected, the error is a
// [*ToolsRejectedError], unless the options say otherwise; the registration is returned
// with it, and the other tools are registered. Tools that do not fit in one message are sent in
// several; if one fails, the tools of earlier ones stay registered. Without a deadline of ctx,
// each has 30 seconds.
func (c *Client) Register(
	ctx context.Context, server string, tools []ToolDefinition, options *RegisterOptions,
) (*Registration, error) {
	if options == nil {
		options = &RegisterOptions{}
	}
	messages, err := encodeDefinitions(tools)
	if err != nil {
		return nil, err
	}
	request, err := options.encode(c.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	request.Server = server
	request.Mode = pb.RegistrationMode_REGISTRATION_MODE_UPSERT
	if options.Replace {
		request.Mode = pb.RegistrationMode_REGISTRATION_MODE_REPLACE
	}
	limits, err := c.connection.serverLimits(ctx, registrationTimeout)
	if err != nil {
		return nil, err
	}
	parts, err := registrationParts(messages, int(limits.MessageBytes)-proto.Size(request), options.Replace)
	if err != nil {
		return nil, err
	}
	registration := &Registration{}
	for _, part := range parts {
		request.Tools = part
		if err := c.register(ctx, request, registration); err != nil {
			return nil, err
		}
	}
	if !options.ReturnRejected {
		return registration, toolsRejected(registration)
	}
	return registration, nil
}

// register registers one part of the tools and adds the outcomes to registration.
func (c *Client) register(
	ctx context.Context, request *pb.RegisterToolsRequest, registration *Registration,
) error {
	var response pb.RegisterToolsResponse
	err := c.connection.callWithin(ctx, registrationTimeout,
		pb.RegistryService_RegisterTools_FullMethodName, request, &response)
	if err != nil {
		return err
	}
	err = requireCount(&response, "outcomes", len(response.GetOutcomes()), len(request.GetTools()))
	if err != nil {
		return err
	}
	for _, outcome := range response.GetOutcomes() {
		registration.Outcomes = append(registration.Outcomes, RegistrationOutcome{
			Name:                     outcome.GetName(),
			Action:                   decodeWord[Action](outcome.GetAction(), "ACTION_"),
			Violations:               decodeViolations(outcome.GetViolations()),
			DefinitionDigest:         outcome.GetDefinitionDigest(),
			InputSchemaDigest:        outcome.GetInputSchemaDigest(),
			OutputSchemaDigest:       outcome.GetOutputSchemaDigest(),
			PreviousDefinitionDigest: outcome.GetPreviousDefinitionDigest(),
			Comparison:               decodeOptional(outcome.GetComparison(), decodeToolComparison),
		})
	}
	registration.Removed = append(registration.Removed, response.GetRemoved()...)
	registration.Kept = append(registration.Kept, response.GetKept()...)
	registration.RegistryRevision = response.GetRegistryRevision()
	return nil
}

// registrationParts returns parts of tools that fit in room bytes each, at least one.
func registrationParts(tools []*pb.InlineTool, room int, replace bool) ([][]*pb.InlineTool, error) {
	for index, tool := range tools {
		if size := elementBytes(tool); size > room {
			return nil, fmt.Errorf("%w: tools[%d] takes %d bytes and one message holds %d",
				ErrInvalidArgument, index, size, room)
		}
	}
	parts := split(tools, room, max(1, len(tools)))
	if replace && len(parts) > 1 {
		return nil, fmt.Errorf("%w: the tools do not fit in one message of %d bytes, and a"+
			" replacement cannot be split: register without Replace, then delete",
			ErrInvalidArgument, room)
	}
	return parts, nil
}
