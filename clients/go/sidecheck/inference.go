package sidecheck

import (
	"context"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// InferenceClient infers tool definitions from Python source text and adapts definitions to
// protocol versions: Client.Inference.
type InferenceClient struct{ connection *connection }

// InferredTools is the result of an inference.
type InferredTools struct {
	// Tools in the order of the text.
	Tools []InferredTool
	// Diagnostics by line and column.
	Diagnostics []Diagnostic
}

// InferredTool is a definition that was inferred.
type InferredTool struct {
	// JSON is the canonical definition: its output schema may have any root.
	JSON JSON
	// Function is the qualified name of the function.
	Function string
	// Line of its def statement, from 1.
	Line uint32
	// DefinitionDigest is the digest of the definition.
	DefinitionDigest string
}

// Diagnostic is something in source text that inference could not read.
type Diagnostic struct {
	// Code is stable and in upper snake case, for example UNRESOLVED_NAME.
	Code string
	// Severity; an error means that the tool was not inferred.
	Severity Severity
	// Message has the fault and its remedy.
	Message string
	// Line from 1; 0 for the text as a whole.
	Line uint32
	// Column in characters, from 1.
	Column uint32
	// EndLine is the line of the end.
	EndLine uint32
	// EndColumn is the column after the end.
	EndColumn uint32
	// Function concerned, or empty.
	Function string
	// Parameter concerned, or empty.
	Parameter string
}

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
	inferred := &InferredTools{}
	for _, tool := range response.GetTools() {
		if len(tool.GetJson()) == 0 {
			return nil, missingField(tool, "json")
		}
		inferred.Tools = append(inferred.Tools, InferredTool{
			JSON:             tool.GetJson(),
			Function:         tool.GetFunction(),
			Line:             tool.GetLine(),
			DefinitionDigest: tool.GetDefinitionDigest(),
		})
	}
	for _, diagnostic := range response.GetDiagnostics() {
		inferred.Diagnostics = append(inferred.Diagnostics, Diagnostic{
			Code:      diagnostic.GetCode(),
			Severity:  decodeSeverity(diagnostic.GetSeverity()),
			Message:   diagnostic.GetMessage(),
			Line:      diagnostic.GetLine(),
			Column:    diagnostic.GetColumn(),
			EndLine:   diagnostic.GetEndLine(),
			EndColumn: diagnostic.GetEndColumn(),
			Function:  diagnostic.GetFunction(),
			Parameter: diagnostic.GetParameter(),
		})
	}
	return inferred, nil
}

// AdaptedTool is a definition adapted to a protocol version.
type AdaptedTool struct {
	// JSON is the definition; byte for byte the original if nothing had to change.
	JSON JSON
	// WrappedProperty is the property of the structured content that holds the value, if the
	// output schema is wrapped in an object; otherwise empty.
	WrappedProperty string
	// DroppedProperties are those of the definition that the version does not define.
	DroppedProperties []string
	// Portable has the losses and the mapping; nil if the definition was not made portable.
	Portable *PortableForm
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
	form, err := decodePortable(response.GetPortable())
	if err != nil {
		return nil, err
	}
	return &AdaptedTool{
		response.GetJson(), response.GetWrappedProperty(), response.GetDroppedProperties(), form,
	}, nil
}
