package sidecheck

import (
	"context"
	"iter"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Tool is a tool of the registry.
type Tool struct {
	// Server is the namespace of the server.
	Server string
	// Name of the tool.
	Name string
	// JSON is the definition, byte for byte as registered, unless it was adapted.
	JSON JSON
	// Documents that were registered with the definition; their JSON is text of the type [JSON].
	Documents []Document
	// DefinitionDigest is the digest of the definition as registered.
	DefinitionDigest string
	// InputSchemaDigest is the digest of the input schema.
	InputSchemaDigest string
	// OutputSchemaDigest is the digest of the output schema as registered; empty if there is
	// none.
	OutputSchemaDigest string
	// Revision of the registry at which the name was bound to the definition.
	Revision uint64
	// ProtocolVersion is the MCP protocol version that the tool was registered under.
	ProtocolVersion string
}

// Definition returns the definition with its documents, for a request.
func (t *Tool) Definition() ToolDefinition { return ToolDefinition{t.JSON, t.Documents} }

// Get returns a registered tool, its definition in the form for the MCP protocol version
// adaptTo, or as registered if that is empty. It fails with NOT_FOUND if there is none.
func (c *Client) Get(ctx context.Context, server, name, adaptTo string) (*Tool, error) {
	var response pb.GetToolResponse
	err := c.connection.call(ctx, pb.RegistryService_GetTool_FullMethodName,
		&pb.GetToolRequest{
			Server: server, Name: name, AdaptToVersion: adaptTo,
			MinRevision: c.connection.minRevision.Load(),
		}, &response)
	if err != nil {
		return nil, err
	}
	if response.GetTool() == nil {
		return nil, missingField(&response, "tool")
	}
	return decodeTool(response.GetTool())
}

// List yields the registered tools of one server, or of all if server is empty, by server and
// name. Their definitions are in the form for the MCP protocol version adaptTo, or as
// registered if that is empty. They are fetched in pages. An error ends the iteration.
func (c *Client) List(ctx context.Context, server, adaptTo string) iter.Seq2[*Tool, error] {
	return func(yield func(*Tool, error) bool) {
		request := &pb.ListToolsRequest{
			Server: server, AdaptToVersion: adaptTo, MinRevision: c.connection.minRevision.Load(),
		}
		for {
			var response pb.ListToolsResponse
			err := c.connection.call(ctx, pb.RegistryService_ListTools_FullMethodName, request, &response)
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

func decodeTool(message *pb.Tool) (*Tool, error) {
	if len(message.GetJson()) == 0 {
		return nil, missingField(message, "json")
	}
	tool := &Tool{
		Server:             message.GetServer(),
		Name:               message.GetName(),
		JSON:               message.GetJson(),
		DefinitionDigest:   message.GetDefinitionDigest(),
		InputSchemaDigest:  message.GetInputSchemaDigest(),
		OutputSchemaDigest: message.GetOutputSchemaDigest(),
		Revision:           message.GetRevision(),
		ProtocolVersion:    message.GetProtocolVersion(),
	}
	for _, document := range message.GetDocuments() {
		tool.Documents = append(tool.Documents, Document{document.GetUri(), JSON(document.GetJson())})
	}
	return tool, nil
}

// Delete deletes the tools of server that are called names, at least one and at most
// Limits.BatchItems.
func (c *Client) Delete(ctx context.Context, server string, names ...string) (*Deletion, error) {
	return c.delete(ctx, &pb.DeleteToolsRequest{Server: server, Names: names})
}

// DeleteAll deletes all tools of server.
func (c *Client) DeleteAll(ctx context.Context, server string) (*Deletion, error) {
	return c.delete(ctx, &pb.DeleteToolsRequest{Server: server, All: true})
}

func (c *Client) delete(ctx context.Context, request *pb.DeleteToolsRequest) (*Deletion, error) {
	var response pb.DeleteToolsResponse
	err := c.connection.call(ctx, pb.RegistryService_DeleteTools_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	if len(request.GetNames()) > 0 && len(response.GetDeleted())+len(response.GetUnknown()) == 0 {
		return nil, invalidResponse("DeleteToolsResponse has no names for those of the request")
	}
	deletion := decodeDeletion(&response)
	return &deletion, nil
}
