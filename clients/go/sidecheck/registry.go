package sidecheck

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ChangePolicy is the treatment of a tool whose definition differs from the registered one.
type ChangePolicy string

// Treatments of changed definitions.
const (
	// ChangePolicyUnspecified is the same as ChangePolicyAccept.
	ChangePolicyUnspecified ChangePolicy = ""
	// ChangePolicyAccept registers the definition.
	ChangePolicyAccept ChangePolicy = "accept"
	// ChangePolicyReport registers it with a warning of the code DEFINITION_CHANGED.
	ChangePolicyReport ChangePolicy = "report"
	// ChangePolicyReject keeps the registered definition and rejects the other.
	ChangePolicyReject ChangePolicy = "reject"
)

// Action is the effect of a registration on one name.
type Action string

// Effects of a registration.
const (
	// ActionUnspecified stands for a value that this release does not know.
	ActionUnspecified Action = ""
	// ActionCreated means that the name was not registered before.
	ActionCreated Action = "created"
	// ActionChanged means that the name had another definition or protocol version before.
	ActionChanged Action = "changed"
	// ActionUnchanged means that the name had the same definition before.
	ActionUnchanged Action = "unchanged"
	// ActionRejected means that the definition was not registered.
	ActionRejected Action = "rejected"
)

// RegisterOptions are the options of a registration.
type RegisterOptions struct {
	// Replace makes the tools the complete set: other tools of the server are removed.
	Replace bool
	// ChangePolicy is the treatment of tools whose definition changed.
	ChangePolicy ChangePolicy
	// ValidateOnly checks the definitions without registering them.
	ValidateOnly bool
	// ProtocolVersion is the MCP protocol version whose rules apply to the definitions, and
	// to what is later validated against them without naming a version. Empty means that of
	// the client.
	ProtocolVersion string
	// ReturnRejected returns a registration with rejected tools without an error.
	ReturnRejected bool
}

// Registration is the result of a registration.
type Registration struct {
	// Outcomes of the definitions, in the order given.
	Outcomes []RegistrationOutcome
	// Removed are the names that a replacement removed.
	Removed []string
	// RegistryRevision is the revision of the registry afterwards.
	RegistryRevision uint64
}

// RegistrationOutcome is the outcome of the registration of one definition.
type RegistrationOutcome struct {
	// Name of the tool. Empty if the definition has none.
	Name string
	// Action is the effect, or with [RegisterOptions].ValidateOnly what it would be.
	Action Action
	// Violations of the definition. One of severity error rejects it.
	Violations []Violation
	// DefinitionDigest is the digest of the definition. Empty if it is not JSON.
	DefinitionDigest string
	// InputSchemaDigest is empty if the definition was rejected.
	InputSchemaDigest string
	// OutputSchemaDigest is empty if the definition was rejected or has no output schema.
	OutputSchemaDigest string
	// PreviousDefinitionDigest is that of the definition registered before, if any.
	PreviousDefinitionDigest string
}

// Tool is a tool of the registry.
type Tool struct {
	// Server is the namespace of the server.
	Server string
	// Name of the tool.
	Name string
	// JSON is the definition, byte for byte as registered unless it was adapted.
	JSON json.RawMessage
	// Documents registered with the definition; their JSON is a json.RawMessage.
	Documents []Document
	// DefinitionDigest is the digest of the definition as registered.
	DefinitionDigest string
	// InputSchemaDigest is the digest of the input schema.
	InputSchemaDigest string
	// OutputSchemaDigest is the digest of the output schema as registered, if there is one.
	OutputSchemaDigest string
	// Revision of the registry at which the name was bound to the definition.
	Revision uint64
	// ProtocolVersion is that which the tool was registered under.
	ProtocolVersion string
}

// Deletion is the result of a deletion.
type Deletion struct {
	// Deleted are the names that were deleted, in order.
	Deleted []string
	// Unknown are the names that were not registered.
	Unknown []string
	// RegistryRevision is the revision of the registry afterwards.
	RegistryRevision uint64
}

// Register registers tools of a server. With nil, options are the defaults.
//
// Tools without an error are registered, whatever becomes of the others. If one is rejected,
// the registration is returned together with a [*ToolsRejectedError]. Tools that do not fit
// in one message are sent in several, each with a timeout of 30 seconds unless ctx has a
// deadline; if one fails, the tools of earlier ones stay registered. A replacement that does
// not fit in one message, or a tool that does not, is an error, and nothing is sent.
func (c *Client) Register(
	ctx context.Context, server string, tools []ToolDefinition, options *RegisterOptions,
) (*Registration, error) {
	if options == nil {
		options = &RegisterOptions{}
	}
	messages, err := encodeInlineTools(tools)
	if err != nil {
		return nil, err
	}
	var enums enumEncoder
	frame := &sidecheckv1.RegisterToolsRequest{
		Server: server,
		ChangePolicy: encodeEnum[sidecheckv1.ChangePolicy](
			&enums, changePolicyWords, "ChangePolicy", options.ChangePolicy),
		ValidateOnly:    options.ValidateOnly,
		ProtocolVersion: options.ProtocolVersion,
	}
	if enums.err != nil {
		return nil, enums.err
	}
	if options.Replace {
		frame.Mode = sidecheckv1.RegistrationMode_REGISTRATION_MODE_REPLACE
	}
	if frame.ProtocolVersion == "" {
		frame.ProtocolVersion = c.connection.protocolVersion
	}
	limits, err := c.connection.serverLimits(ctx, registerTimeout)
	if err != nil {
		return nil, err
	}
	parts, err := splitTools(messages, int(limits.MessageBytes)-proto.Size(frame), options.Replace)
	if err != nil {
		return nil, err
	}
	registration := &Registration{}
	for _, part := range parts {
		request := proto.Clone(frame).(*sidecheckv1.RegisterToolsRequest)
		request.Tools = part
		if err := c.connection.register(ctx, request, registration); err != nil {
			return nil, err
		}
	}
	if !options.ReturnRejected {
		for _, outcome := range registration.Outcomes {
			if outcome.Action == ActionRejected {
				return registration, &ToolsRejectedError{registration}
			}
		}
	}
	return registration, nil
}

// splitTools returns parts of tools that fit in room bytes each, at least one.
func splitTools(
	tools []*sidecheckv1.InlineTool, room int, replace bool,
) ([][]*sidecheckv1.InlineTool, error) {
	for index, tool := range tools {
		if size := elementSize(tool); size > room {
			return nil, fmt.Errorf(
				"sidecheck: tools[%d] takes %d bytes and one message holds %d", index, size, room)
		}
	}
	parts := split(tools, room, len(tools))
	if len(parts) == 0 {
		parts = [][]*sidecheckv1.InlineTool{nil}
	}
	if replace && len(parts) > 1 {
		return nil, fmt.Errorf(
			"sidecheck: the tools do not fit in one message of %d bytes, and a replacement cannot"+
				" be split: register without Replace, then delete", room)
	}
	return parts, nil
}

// register sends one request and adds its result to registration.
func (c *connection) register(
	ctx context.Context, request *sidecheckv1.RegisterToolsRequest, registration *Registration,
) error {
	response, err := call[sidecheckv1.RegisterToolsResponse](
		ctx, c, sidecheckv1.RegistryService_RegisterTools_FullMethodName, request, registerTimeout)
	if err != nil {
		return err
	}
	err = checkCount("RegisterToolsResponse.outcomes", response.GetOutcomes(), len(request.Tools))
	if err != nil {
		return err
	}
	for _, outcome := range response.GetOutcomes() {
		registration.Outcomes = append(registration.Outcomes, RegistrationOutcome{
			Name:                     outcome.GetName(),
			Action:                   decodeEnum[Action](actionWords, outcome.GetAction()),
			Violations:               decodeViolations(outcome.GetViolations()),
			DefinitionDigest:         outcome.GetDefinitionDigest(),
			InputSchemaDigest:        outcome.GetInputSchemaDigest(),
			OutputSchemaDigest:       outcome.GetOutputSchemaDigest(),
			PreviousDefinitionDigest: outcome.GetPreviousDefinitionDigest(),
		})
	}
	registration.Removed = append(registration.Removed, response.GetRemoved()...)
	registration.RegistryRevision = response.GetRegistryRevision()
	return nil
}

// Get returns a registered tool, its definition adapted to the protocol version
// adaptToVersion unless that is empty. The error NOT_FOUND means that there is none.
func (c *Client) Get(ctx context.Context, server, name, adaptToVersion string) (*Tool, error) {
	response, err := call[sidecheckv1.GetToolResponse](
		ctx, c.connection, sidecheckv1.RegistryService_GetTool_FullMethodName,
		&sidecheckv1.GetToolRequest{Server: server, Name: name, AdaptToVersion: adaptToVersion},
		c.connection.timeout)
	if err != nil {
		return nil, err
	}
	if response.GetTool() == nil {
		return nil, missing("GetToolResponse.tool")
	}
	return decodeTool(response.GetTool())
}

// List yields the registered tools of server, or of all servers if it is empty, by server and
// name. Their definitions are adapted to the protocol version adaptToVersion unless that is
// empty. They are fetched in pages; the timeout of the client is that of each. After an
// error nothing follows.
func (c *Client) List(ctx context.Context, server, adaptToVersion string) iter.Seq2[*Tool, error] {
	return func(yield func(*Tool, error) bool) {
		request := &sidecheckv1.ListToolsRequest{Server: server, AdaptToVersion: adaptToVersion}
		for {
			response, err := call[sidecheckv1.ListToolsResponse](
				ctx, c.connection, sidecheckv1.RegistryService_ListTools_FullMethodName,
				request, c.connection.timeout)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, message := range response.GetTools() {
				tool, err := decodeTool(message)
				if !yield(tool, err) || err != nil {
					return
				}
			}
			if request.PageToken = response.GetNextPageToken(); request.PageToken == "" {
				return
			}
		}
	}
}

// Delete deletes the tools of server with these names, of which there is at least one.
func (c *Client) Delete(ctx context.Context, server string, names ...string) (*Deletion, error) {
	return c.delete(ctx, &sidecheckv1.DeleteToolsRequest{Server: server, Names: names})
}

// DeleteAll deletes all tools of server.
func (c *Client) DeleteAll(ctx context.Context, server string) (*Deletion, error) {
	return c.delete(ctx, &sidecheckv1.DeleteToolsRequest{Server: server, All: true})
}

func (c *Client) delete(
	ctx context.Context, request *sidecheckv1.DeleteToolsRequest,
) (*Deletion, error) {
	response, err := call[sidecheckv1.DeleteToolsResponse](
		ctx, c.connection, sidecheckv1.RegistryService_DeleteTools_FullMethodName,
		request, c.connection.timeout)
	if err != nil {
		return nil, err
	}
	if len(request.Names) > 0 && len(response.GetDeleted())+len(response.GetUnknown()) == 0 {
		return nil, invalidResponse("DeleteToolsResponse has no names for those of the request")
	}
	return &Deletion{
		Deleted:          response.GetDeleted(),
		Unknown:          response.GetUnknown(),
		RegistryRevision: response.GetRegistryRevision(),
	}, nil
}

func decodeTool(message *sidecheckv1.Tool) (*Tool, error) {
	if len(message.GetJson()) == 0 {
		return nil, missing("Tool.json")
	}
	return &Tool{
		Server: message.GetServer(),
		Name:   message.GetName(),
		JSON:   message.GetJson(),
		Documents: decodeList(message.GetDocuments(), func(document *sidecheckv1.Document) Document {
			return Document{document.GetUri(), json.RawMessage(document.GetJson())}
		}),
		DefinitionDigest:   message.GetDefinitionDigest(),
		InputSchemaDigest:  message.GetInputSchemaDigest(),
		OutputSchemaDigest: message.GetOutputSchemaDigest(),
		Revision:           message.GetRevision(),
		ProtocolVersion:    message.GetProtocolVersion(),
	}, nil
}
