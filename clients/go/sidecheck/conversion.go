package sidecheck

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
