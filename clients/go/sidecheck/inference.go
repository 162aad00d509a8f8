package sidecheck

import (
	"context"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// InferenceClient infers tool definitions from Python source text and adapts definitions to
// protocol versions: Client.Inference.
type InferenceClient struct{ connection *connection }

// InferTools returns the definitions of the tools in Python source text, which is parsed and
// never run. The text has at most Limits.SourceBytes.
func (i *InferenceClient) InferTools(
	ctx context.Context, source string, options *InferOptions,
) (*InferredTools, error) {
	request, err := options.encode()
	if err != nil {
		return nil, err
	}
	request.Source = []byte(source)
	var response pb.InferToolsResponse
	err = i.connection.call(ctx, pb.InferenceService_InferTools_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	for _, tool := range response.GetTools() {
		if len(tool.GetJson()) == 0 {
			return nil, missingField(tool, "json")
		}
	}
	inferred := decodeInferredTools(&response)
	return &inferred, nil
}

// AdaptTool adapts a definition to an MCP protocol version. Empty means that of the client, or
// else the one that the tool was registered under, or else the default of the server. The tool
// is a target for a definition, such as a [ToolDefinition].
//
// Unless portable is nil, the definition is also rewritten so that model APIs and clients accept it
// as it is.
func (i *InferenceClient) AdaptTool(
	ctx context.Context, tool Target, version string, portable *Portability,
) (*AdaptedTool, error) {
	target, err := encodeTarget(tool)
	if err != nil {
		return nil, err
	}
	if version == "" {
		version = i.connection.protocolVersion
	}
	var response pb.AdaptToolResponse
	err = i.connection.call(ctx, pb.InferenceService_AdaptTool_FullMethodName,
		&pb.AdaptToolRequest{
			Tool:            target,
			ProtocolVersion: version,
			MinRevision:     i.connection.minRevision.Load(),
			Portable:        portable.encode(),
		}, &response)
	if err != nil {
		return nil, err
	}
	if len(response.GetJson()) == 0 {
		return nil, missingField(&response, "json")
	}
	if portable := response.GetPortable(); portable != nil && len(portable.GetMapping()) == 0 {
		return nil, missingField(portable, "mapping")
	}
	adapted := decodeAdaptedTool(&response)
	return &adapted, nil
}
