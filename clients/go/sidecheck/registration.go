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
	part := decodeRegistration(&response)
	registration.Outcomes = append(registration.Outcomes, part.Outcomes...)
	registration.Removed = append(registration.Removed, part.Removed...)
	registration.Kept = append(registration.Kept, part.Kept...)
	registration.RegistryRevision = part.RegistryRevision
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
