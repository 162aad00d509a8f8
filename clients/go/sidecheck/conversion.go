package sidecheck

import (
	"encoding/json"
)

// ModelAPI is the API of a model provider or of a model server.
type ModelAPI string

// APIs.
const (
	// ModelAPIUnspecified stands for no API, and fails with INVALID_REQUEST.
	ModelAPIUnspecified ModelAPI = ""
	// ModelAPIOpenAIChat is OpenAI Chat Completions.
	ModelAPIOpenAIChat ModelAPI = "openai_chat"
	// ModelAPIOpenAIResponses is OpenAI Responses.
	ModelAPIOpenAIResponses ModelAPI = "openai_responses"
	// ModelAPIAnthropic is Anthropic Messages.
	ModelAPIAnthropic ModelAPI = "anthropic"
	// ModelAPIGemini is Gemini with parameters, a subset of OpenAPI 3.0.
	ModelAPIGemini ModelAPI = "gemini"
	// ModelAPIGeminiJSON is Gemini with parametersJsonSchema.
	ModelAPIGeminiJSON ModelAPI = "gemini_json"
	// ModelAPIBedrock is Amazon Bedrock Converse.
	ModelAPIBedrock ModelAPI = "bedrock"
	// ModelAPIMistral is Mistral chat completions.
	ModelAPIMistral ModelAPI = "mistral"
	// ModelAPIOllama is Ollama chat.
	ModelAPIOllama ModelAPI = "ollama"
)

// ConversionMode is the use of the strict mode (structured outputs) of the API.
type ConversionMode string

// Conversion modes.
const (
	// ConversionModeUnspecified is the same as ConversionModeCompatible.
	ConversionModeUnspecified ConversionMode = ""
	// ConversionModeCompatible is never strict. Keywords that the API rejects are widened,
	// never narrowed.
	ConversionModeCompatible ConversionMode = "compatible"
	// ConversionModeStrictIfLossless is strict for each tool whose strict form, with its
	// mapping, accepts the same arguments as the original.
	ConversionModeStrictIfLossless ConversionMode = "strict_if_lossless"
	// ConversionModeStrict is always strict, and narrows the schema where that is the only
	// way. A tool without a strict form is an error, as is every tool for Gemini and Ollama.
	ConversionModeStrict ConversionMode = "strict"
)

// ServerPrefix is the use of the server name and "__" as a prefix of tool names.
type ServerPrefix string

// Uses of the prefix.
const (
	// ServerPrefixUnspecified is the same as ServerPrefixAutomatic.
	ServerPrefixUnspecified ServerPrefix = ""
	// ServerPrefixAutomatic means if the request has tools of several servers.
	ServerPrefixAutomatic ServerPrefix = "automatic"
	// ServerPrefixAlways means for every tool that has a server.
	ServerPrefixAlways ServerPrefix = "always"
	// ServerPrefixNever means never.
	ServerPrefixNever ServerPrefix = "never"
)

// ConversionOptions are the options of a conversion of tools. Zero values are the server's
// defaults.
type ConversionOptions struct {
	// Mode is the use of the strict mode of the API.
	Mode ConversionMode
	// ServerPrefix is the use of the server name as a prefix.
	ServerPrefix ServerPrefix
	// AssumeClosed makes an object schema that declares properties and does not mention
	// others count as closed, so that closing it does not prevent strict mode.
	AssumeClosed bool
	// DescriptionLength is the maximum length of a tool description, in characters; 0 means
	// the maximum of the API. A longer one is cut, which is a [Loss].
	DescriptionLength uint32
	// IncludeOutputSchema includes the output schema, for APIs that accept one.
	IncludeOutputSchema bool
	// DropDefaults drops every default of the input schema, at any depth.
	DropDefaults bool
	// ProtocolVersion is the MCP protocol version that included output schemas are adapted
	// to. Empty means that of the client.
	ProtocolVersion string
}

// ToolToConvert is a tool to convert.
type ToolToConvert struct {
	// Tool is registered, by the digest of its definition, or inline.
	Tool Target
	// Server offers the tool, and is used in its name. Empty means the server that it is
	// registered under, if any.
	Server string
}

// ConvertedTools is the result of a conversion of tools.
type ConvertedTools struct {
	// Conversions of the tools, in the order of the request.
	Conversions []ToolConversion
	// Request is the verdict on the converted tools as one API request. Instance locations
	// point into the list of the tools that were converted: /2 is the third of them.
	Request *Verdict
}

// Mappings returns the mappings of all tools that were converted, for
// [ConversionClient.ConvertToolCall].
func (c *ConvertedTools) Mappings() []json.RawMessage {
	var mappings []json.RawMessage
	for _, conversion := range c.Conversions {
		if conversion.Converted != nil {
			mappings = append(mappings, conversion.Converted.Mapping)
		}
	}
	return mappings
}

// ToolConversion is the outcome of the conversion of one tool.
type ToolConversion struct {
	// Server offers the tool, or is empty.
	Server string
	// Name of the tool. Empty if it cannot be read.
	Name string
	// Converted is the tool in the format of the API. Nil if Err is not.
	Converted *ConvertedTool
	// Err is an [*Error] if the tool was not converted.
	Err error
}

// ConvertedTool is a tool in the format of a model API.
type ConvertedTool struct {
	// JSON is the tool: an element of tools in the request, of functionDeclarations for
	// Gemini, of toolConfig.tools for Bedrock.
	JSON json.RawMessage
	// Name of the tool in the request.
	Name string
	// Strict reports whether the tool uses the strict mode of the API.
	Strict bool
	// Mapping is what [ConversionClient.ConvertToolCall] needs, as JSON text. It contains no
	// payload values, and may be stored anywhere. It belongs to this definition: a changed
	// definition must be converted again.
	Mapping json.RawMessage
	// Losses are all differences from the original definition, ordered by location.
	Losses []Loss
	// NotStrictReason says why the tool is not strict although the mode prefers it.
	NotStrictReason string
}

// LossAction is the treatment of a keyword or property that a conversion could not keep.
type LossAction string

// Treatments.
const (
	// LossActionUnspecified stands for a value that this release does not know.
	LossActionUnspecified LossAction = ""
	// LossActionKept means kept unchanged, although the API ignores it.
	LossActionKept LossAction = "kept"
	// LossActionDescribed means moved to the description.
	LossActionDescribed LossAction = "described"
	// LossActionRewritten means expressed in another way.
	LossActionRewritten LossAction = "rewritten"
	// LossActionEncoded means that payloads have another form, which the mapping decodes.
	LossActionEncoded LossAction = "encoded"
	// LossActionDropped means removed.
	LossActionDropped LossAction = "dropped"
)

// LossEffect is the effect of a loss on the accepted payloads, with the mapping applied.
type LossEffect string

// Effects.
const (
	// LossEffectUnspecified stands for a value that this release does not know.
	LossEffectUnspecified LossEffect = ""
	// LossEffectEquivalent means that the same payloads are accepted.
	LossEffectEquivalent LossEffect = "equivalent"
	// LossEffectWidened means that more payloads are accepted. Those that the original
	// rejects are detected when the call is converted back.
	LossEffectWidened LossEffect = "widened"
	// LossEffectNarrowed means that there are valid calls that the model cannot make.
	LossEffectNarrowed LossEffect = "narrowed"
)

// Loss is a difference between a definition or result and its converted form.
type Loss struct {
	// Pointer is a JSON Pointer into the definition or the result.
	Pointer string
	// Keyword, or property of the definition. Empty if the location says it.
	Keyword string
	// Action is the treatment of the keyword or property.
	Action LossAction
	// Effect on the accepted payloads.
	Effect LossEffect
	// Message describes the loss, for people.
	Message string
}

// ConvertedCall is a model's call in the form of MCP.
type ConvertedCall struct {
	// Server offers the tool, or is empty.
	Server string
	// Tool is the original name of the tool.
	Tool string
	// CallID is assigned by the API. It may be empty.
	CallID string
	// CallParams are the params of the tools/call, as JSON text. Nil if the arguments are
	// not a JSON object.
	CallParams json.RawMessage
	// Verdict on the arguments against the original input schema. If the call cannot be
	// read, instance locations point into the call.
	Verdict *Verdict
	// Changes of the arguments other than renamed properties.
	Changes []Change
	// Name of the tool in the request. Empty if it cannot be read.
	Name string
}

// ConvertedResult is a tool result in the form of a model API.
type ConvertedResult struct {
	// Message returns the result to the model, as JSON text: a message, for OpenAI
	// Responses an item, for Anthropic, Bedrock and Gemini a part of a user message. Media
	// are encoded in base64.
	Message json.RawMessage
	// Losses are the parts of the result that the API cannot express.
	Losses []Loss
	// Verdict on the result. If it is invalid, Message reports a failure to the model.
	Verdict *Verdict
}

// ConvertResultOptions are the options of a conversion of a tool result.
type ConvertResultOptions struct {
	// CallID is that of the call. Required except for Gemini and Ollama.
	CallID string
	// Name of the tool in the request, as in the call. Required for Gemini and Ollama.
	Name string
	// Check has the protocol version, the capabilities and the limits of the verdict.
	Check CheckOptions
}
