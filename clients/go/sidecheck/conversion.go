package sidecheck

import (
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ModelAPI is the API of a model provider or model server. There is no default.
type ModelAPI string

const (
	// ModelAPIOpenAIChat is OpenAI Chat Completions.
	ModelAPIOpenAIChat ModelAPI = "openai-chat"
	// ModelAPIOpenAIResponses is OpenAI Responses.
	ModelAPIOpenAIResponses ModelAPI = "openai-responses"
	// ModelAPIAnthropic is Anthropic Messages.
	ModelAPIAnthropic ModelAPI = "anthropic"
	// ModelAPIGemini is Gemini with parameters, a subset of OpenAPI 3.0.
	ModelAPIGemini ModelAPI = "gemini"
	// ModelAPIGeminiJSON is Gemini with parametersJsonSchema.
	ModelAPIGeminiJSON ModelAPI = "gemini-json"
	// ModelAPIBedrock is Amazon Bedrock Converse.
	ModelAPIBedrock ModelAPI = "bedrock"
	// ModelAPIMistral is Mistral chat completions.
	ModelAPIMistral ModelAPI = "mistral"
	// ModelAPIOllama is Ollama chat.
	ModelAPIOllama ModelAPI = "ollama"
	// ModelAPIMCP is no model: MCP definitions that clients and model APIs accept as they are.
	ModelAPIMCP ModelAPI = "mcp"
)

// ConversionMode is the use of the strict mode of an API. The zero value is
// [ConversionModeCompatible].
type ConversionMode string

const (
	// ConversionModeCompatible is never strict.
	ConversionModeCompatible ConversionMode = "compatible"
	// ConversionModeStrictIfLossless is strict for each tool whose strict form accepts the same
	// arguments.
	ConversionModeStrictIfLossless ConversionMode = "strict-if-lossless"
	// ConversionModeStrict is always strict. A tool without a strict form has an error.
	ConversionModeStrict ConversionMode = "strict"
)

// ServerPrefix is the use of the server name and "__" as a prefix of tool names. The zero value
// is [ServerPrefixAutomatic].
type ServerPrefix string

const (
	// ServerPrefixAutomatic prefixes if the request has tools of several servers.
	ServerPrefixAutomatic ServerPrefix = "automatic"
	// ServerPrefixAlways prefixes every tool that has a server.
	ServerPrefixAlways ServerPrefix = "always"
	// ServerPrefixNever never prefixes.
	ServerPrefixNever ServerPrefix = "never"
)

// ConversionOptions are the options of a conversion of tools. The zero value and a nil pointer
// are the defaults of the server.
type ConversionOptions struct {
	// Mode is the use of the strict mode of the API.
	Mode ConversionMode
	// ServerPrefix is the use of the server name as a prefix.
	ServerPrefix ServerPrefix
	// AssumeClosed counts objects that declare properties and do not mention others as closed,
	// so that closing them does not prevent a strict form.
	AssumeClosed bool
	// DescriptionLength is the maximum length of a tool description, in characters. 0 means
	// that of the API.
	DescriptionLength uint32
	// IncludeOutputSchema includes the output schema, for APIs that accept one.
	IncludeOutputSchema bool
	// DropDefaults drops every default of the input schema, at any depth.
	DropDefaults bool
	// ProtocolVersion is the MCP protocol version that included output schemas are adapted to.
	// Empty means that of the client.
	ProtocolVersion string
}

// ToolToConvert is a tool to convert, with the server that offers it.
type ToolToConvert struct {
	// Tool is a target for a definition, such as a [ToolDefinition].
	Tool Target
	// Server is used in the name of the tool. Empty means the server that it is registered
	// under, if any.
	Server string
}

// ConvertedTools is the result of a conversion of tools.
type ConvertedTools struct {
	// Conversions of the tools, in the order of the request.
	Conversions []ToolConversion
	// Request is the verdict on the converted tools as one request to the API. Instance
	// locations point into the list of the tools that were converted.
	Request *Verdict
}

// Mappings returns the mappings of all converted tools, for
// [ConversionClient.ConvertToolCall].
func (c *ConvertedTools) Mappings() []any {
	var mappings []any
	for _, conversion := range c.Conversions {
		if conversion.Converted != nil {
			mappings = append(mappings, conversion.Converted.Mapping)
		}
	}
	return mappings
}

// ToolConversion is the outcome of the conversion of one tool. Exactly one of Converted and Err
// is set.
type ToolConversion struct {
	// Server that offers the tool, or empty.
	Server string
	// Name of the tool; empty if it cannot be read.
	Name string
	// Converted is the tool in the format of the API.
	Converted *ConvertedTool
	// Err says why the tool was not converted.
	Err error
}

// ConvertedTool is a tool in the format of an API.
type ConvertedTool struct {
	// JSON is an element of tools in the request, of functionDeclarations for Gemini, of
	// toolConfig.tools for Bedrock.
	JSON JSON
	// Name of the tool in the request.
	Name string
	// Strict says whether the tool uses the strict mode of the API.
	Strict bool
	// Mapping is what [ConversionClient.ConvertToolCall] needs. It contains no payload values
	// and may be stored anywhere. It belongs to this definition.
	Mapping JSON
	// Losses are all differences from the definition, by location.
	Losses []Loss
	// NotStrictReason says why the tool is not strict although the mode prefers it.
	NotStrictReason string
}

// ConvertedCall is the call of a model in the form of MCP.
type ConvertedCall struct {
	// Server that offers the tool, or empty.
	Server string
	// Tool is the original name of the tool.
	Tool string
	// CallID is the id of the call, assigned by the API; it may be empty.
	CallID string
	// CallParams are the params of the tools/call; empty if the arguments are not an object.
	CallParams JSON
	// Verdict on the arguments against the original input schema. If the call cannot be read,
	// instance locations point into the call.
	Verdict *Verdict
	// Changes of the arguments other than renamed properties.
	Changes []Change
	// Name of the tool in the request, for [ToolResultToConvert]; empty if it cannot be read.
	Name string
}

// ToolResultToConvert is a tool result to convert to a message for the model.
type ToolResultToConvert struct {
	// ToolResult is the CallToolResult and the tool that returned it.
	ToolResult
	// CallID is the id of the call; required except for Gemini and Ollama.
	CallID string
	// Name of the tool in the request; required for Gemini and Ollama.
	Name string
}

// ConvertedResult is a tool result in the form of an API.
type ConvertedResult struct {
	// Message returns the result to the model. Media in it are Base64. If the verdict is
	// invalid, it reports a failure.
	Message JSON
	// Losses are the parts of the result that the API cannot express.
	Losses []Loss
	// Verdict on the result.
	Verdict *Verdict
}

// encode returns the message for the options; version is that of the client.
func (o *ConversionOptions) encode(version string) (*pb.ConversionOptions, error) {
	if o == nil {
		return &pb.ConversionOptions{ProtocolVersion: version}, nil
	}
	mode, err := encodeWord[pb.ConversionMode](o.Mode, "CONVERSION_MODE_")
	if err != nil {
		return nil, err
	}
	prefix, err := encodeWord[pb.ServerPrefix](o.ServerPrefix, "SERVER_PREFIX_")
	if err != nil {
		return nil, err
	}
	if o.ProtocolVersion != "" {
		version = o.ProtocolVersion
	}
	return &pb.ConversionOptions{
		Mode:                mode,
		ServerPrefix:        prefix,
		AssumeClosed:        o.AssumeClosed,
		DescriptionLength:   o.DescriptionLength,
		IncludeOutputSchema: o.IncludeOutputSchema,
		DropDefaults:        o.DropDefaults,
		ProtocolVersion:     version,
	}, nil
}
