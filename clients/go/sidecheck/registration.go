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

// ChangePolicy is the treatment of a tool whose definition differs from the registered one. The
// zero value is [ChangePolicyAccept].
type ChangePolicy string

const (
	// ChangePolicyAccept registers the definition.
	ChangePolicyAccept ChangePolicy = "accept"
	// ChangePolicyReport registers the definition with the warning DEFINITION_CHANGED.
	ChangePolicyReport ChangePolicy = "report"
	// ChangePolicyReject keeps the registered definition; the outcome has the error
	// DEFINITION_CHANGED.
	ChangePolicyReject ChangePolicy = "reject"
)

// CompatibilityPolicy is the treatment of a definition that is not compatible with the registered
// one of its name, as [Client.Compare] tells. The zero value is [CompatibilityPolicyIgnore].
type CompatibilityPolicy string

const (
	// CompatibilityPolicyIgnore does not compare definitions.
	CompatibilityPolicyIgnore CompatibilityPolicy = "ignore"
	// CompatibilityPolicyReport registers the definition, with the warning BREAKING_CHANGE or
	// UNDECIDED_CHANGE if callers break or this is undecided.
	CompatibilityPolicyReport CompatibilityPolicy = "report"
	// CompatibilityPolicyRejectBreaking keeps the registered definition if the change is breaking,
	// and tools that RegisterOptions.Replace would remove.
	CompatibilityPolicyRejectBreaking CompatibilityPolicy = "reject-breaking"
	// CompatibilityPolicyRejectUndecided also keeps it if that is undecided.
	CompatibilityPolicyRejectUndecided CompatibilityPolicy = "reject-undecided"
)

// RegisterOptions are the options of a registration. The zero value and a nil pointer are the
// defaults.
type RegisterOptions struct {
	// Replace makes the tools the complete set: other tools of the server are deleted. They
	// must fit in one message.
	Replace bool
	// ChangePolicy is the treatment of tools whose definition changed.
	ChangePolicy ChangePolicy
	// ValidateOnly checks the definitions without registering them.
	ValidateOnly bool
	// ProtocolVersion is the MCP protocol version whose rules apply to the definitions, and to
	// what is later validated against them without naming one. Empty means that of the client.
	ProtocolVersion string
	// Compatibility is the treatment of definitions that break the callers of the registered ones.
	Compatibility CompatibilityPolicy
	// Reading of the schemas by which Compatibility decides.
	Reading SchemaReading
	// ReturnRejected returns a registration with rejected tools without an error.
	ReturnRejected bool
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
	request, err := options.encode(server, c.connection.protocolVersion)
	if err != nil {
		return nil, err
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
	part := decodeRegistration(&response)
	registration.Outcomes = append(registration.Outcomes, part.Outcomes...)
	registration.Removed = append(registration.Removed, part.Removed...)
	registration.Kept = append(registration.Kept, part.Kept...)
	registration.RegistryRevision = part.RegistryRevision
	return nil
}

// encode returns the request without its tools; version is that of the client.
func (o *RegisterOptions) encode(server, version string) (*pb.RegisterToolsRequest, error) {
	policy, err := encodeWord[pb.ChangePolicy](o.ChangePolicy, "CHANGE_POLICY_")
	if err != nil {
		return nil, err
	}
	compatibility, err := encodeWord[pb.CompatibilityPolicy](o.Compatibility, "COMPATIBILITY_POLICY_")
	if err != nil {
		return nil, err
	}
	reading, err := encodeWord[pb.SchemaReading](o.Reading, "SCHEMA_READING_")
	if err != nil {
		return nil, err
	}
	request := &pb.RegisterToolsRequest{
		Server:          server,
		Mode:            pb.RegistrationMode_REGISTRATION_MODE_UPSERT,
		ChangePolicy:    policy,
		ValidateOnly:    o.ValidateOnly,
		ProtocolVersion: version,
		Compatibility:   compatibility,
		Reading:         reading,
	}
	if o.Replace {
		request.Mode = pb.RegistrationMode_REGISTRATION_MODE_REPLACE
	}
	if o.ProtocolVersion != "" {
		request.ProtocolVersion = o.ProtocolVersion
	}
	return request, nil
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
