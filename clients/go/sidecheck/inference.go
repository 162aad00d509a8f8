package sidecheck

import (
	"context"
	"encoding/json"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// InferenceClient infers tool definitions from Python source text and adapts definitions to
// protocol versions: [Client.Inference]. [ClientOptions.OnUnavailable] does not apply.
type InferenceClient struct{ connection *connection }

// OnUnsupported is the treatment of an annotation that has no schema.
type OnUnsupported string

// Treatments of unsupported annotations.
const (
	// OnUnsupportedUnspecified is the same as OnUnsupportedError.
	OnUnsupportedUnspecified OnUnsupported = ""
	// OnUnsupportedError means that the tool is not inferred.
	OnUnsupportedError OnUnsupported = "error"
	// OnUnsupportedAny makes it a schema that accepts any value.
	OnUnsupportedAny OnUnsupported = "any"
)

// InferOptions are the options of an inference. Zero values are the server's defaults.
type InferOptions struct {
	// Functions are the names of those that are tools, Class.method for methods. Empty means
	// all functions with a decorator named tool or, if there is none, the public functions
	// of the module.
	Functions []string
	// OnUnsupported is the treatment of an annotation that has no schema.
	OnUnsupported OnUnsupported
	// InjectedTypes are names of types whose parameters the server injects, and which are
	// therefore not arguments; Context and similar types are known.
	InjectedTypes []string
	// InjectedParameters are names of parameters that the server injects.
	InjectedParameters []string
}

// InferredTools is the result of an inference.
type InferredTools struct {
	// Tools in the order of the text.
	Tools []InferredTool
	// Diagnostics, ordered by line and column.
	Diagnostics []Diagnostic
}

// InferredTool is an inferred tool definition.
type InferredTool struct {
	// JSON is the canonical definition. Its output schema may have any root.
	JSON json.RawMessage
	// Function is the qualified name of the function.
	Function string
	// Line of the def statement, from 1.
	Line uint32
	// DefinitionDigest is the digest of the definition.
	DefinitionDigest string
}

// Diagnostic is what inference could not read in source text.
type Diagnostic struct {
	// Code is stable and in upper snake case, for example UNRESOLVED_NAME.
	Code string
	// Severity error means that the tool was not inferred.
	Severity Severity
	// Message says what is wrong and what would be right.
	Message string
	// Line, from 1. 0 if the diagnostic concerns the whole text.
	Line uint32
	// Column in characters, from 1.
	Column uint32
	// EndLine is the line of the end.
	EndLine uint32
	// EndColumn is the column after the end.
	EndColumn uint32
	// Function is the qualified name of the function concerned, or empty.
	Function string
	// Parameter is the name of the parameter concerned, or empty.
	Parameter string
}

// AdaptedTool is a definition adapted to a protocol version.
type AdaptedTool struct {
	// JSON is the definition, byte for byte the original if nothing had to change.
	JSON json.RawMessage
	// WrappedProperty is the property of the structured content that contains the value, if
	// the output schema is wrapped.
	WrappedProperty string
	// DroppedProperties are those that the version does not define.
	DroppedProperties []string
}

// InferTools returns the definitions of the tools in source, Python text in UTF-8 that is
// parsed and never run. What the text alone does not define is reported as a diagnostic.
func (i *InferenceClient) InferTools(
	ctx context.Context, source []byte, options *InferOptions,
) (*InferredTools, error) {
	if options == nil {
		options = &InferOptions{}
	}
	var enums enumEncoder
	request := &sidecheckv1.InferToolsRequest{
		Source:    source,
		Functions: options.Functions,
		OnUnsupported: encodeEnum[sidecheckv1.OnUnsupported](
			&enums, onUnsupportedWords, "OnUnsupported", options.OnUnsupported),
		InjectedTypes:      options.InjectedTypes,
		InjectedParameters: options.InjectedParameters,
	}
	if enums.err != nil {
		return nil, enums.err
	}
	response, err := call[sidecheckv1.InferToolsResponse](
		ctx, i.connection, sidecheckv1.InferenceService_InferTools_FullMethodName,
		request, i.connection.timeout)
	if err != nil {
		return nil, err
	}
	inferred := &InferredTools{
		Diagnostics: decodeList(response.GetDiagnostics(),
			func(message *sidecheckv1.Diagnostic) Diagnostic {
				return Diagnostic{
					Code:      message.GetCode(),
					Severity:  decodeEnum[Severity](severityWords, message.GetSeverity()),
					Message:   message.GetMessage(),
					Line:      message.GetLine(),
					Column:    message.GetColumn(),
					EndLine:   message.GetEndLine(),
					EndColumn: message.GetEndColumn(),
					Function:  message.GetFunction(),
					Parameter: message.GetParameter(),
				}
			}),
	}
	for _, message := range response.GetTools() {
		if len(message.GetJson()) == 0 {
			return nil, missing("InferredTool.json")
		}
		inferred.Tools = append(inferred.Tools, InferredTool{
			JSON:             message.GetJson(),
			Function:         message.GetFunction(),
			Line:             message.GetLine(),
			DefinitionDigest: message.GetDefinitionDigest(),
		})
	}
	return inferred, nil
}

// AdaptTool adapts a definition to an MCP protocol version; empty means that of the client, or
// else the version that the tool was registered under, or else the server's default. tool is
// registered, by the digest of its definition, or inline.
func (i *InferenceClient) AdaptTool(
	ctx context.Context, tool Target, protocolVersion string,
) (*AdaptedTool, error) {
	target, err := encodeTarget(tool)
	if err != nil {
		return nil, err
	}
	if protocolVersion == "" {
		protocolVersion = i.connection.protocolVersion
	}
	response, err := call[sidecheckv1.AdaptToolResponse](
		ctx, i.connection, sidecheckv1.InferenceService_AdaptTool_FullMethodName,
		&sidecheckv1.AdaptToolRequest{Tool: target, ProtocolVersion: protocolVersion},
		i.connection.timeout)
	if err != nil {
		return nil, err
	}
	if len(response.GetJson()) == 0 {
		return nil, missing("AdaptToolResponse.json")
	}
	return &AdaptedTool{
		JSON:              response.GetJson(),
		WrappedProperty:   response.GetWrappedProperty(),
		DroppedProperties: response.GetDroppedProperties(),
	}, nil
}
