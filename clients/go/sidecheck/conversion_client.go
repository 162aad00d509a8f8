package sidecheck

import (
	"context"
	"encoding/json"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ConversionClient converts MCP tools to the formats of model providers, and model calls and
// tool results back: [Client.Conversion]. Every difference is reported as a [Loss].
// [ClientOptions.OnUnavailable] does not apply.
type ConversionClient struct{ connection *connection }

// ConvertTools converts tools for one request to api, with names that are unique within it.
// The registered tools of servers follow tools, by name. Together they may be as many as
// [Limits].BatchItems. A tool that cannot be converted has its own error.
func (c *ConversionClient) ConvertTools(
	ctx context.Context, api ModelAPI, tools []ToolToConvert, servers []string,
	options *ConversionOptions,
) (*ConvertedTools, error) {
	if options == nil {
		options = &ConversionOptions{}
	}
	var enums enumEncoder
	request := &sidecheckv1.ConvertToolsRequest{
		Api: encodeEnum[sidecheckv1.ModelApi](&enums, modelAPIWords, "ModelAPI", api),
		Options: &sidecheckv1.ConversionOptions{
			Mode: encodeEnum[sidecheckv1.ConversionMode](
				&enums, conversionModeWords, "Mode", options.Mode),
			ServerPrefix: encodeEnum[sidecheckv1.ServerPrefix](
				&enums, serverPrefixWords, "ServerPrefix", options.ServerPrefix),
			AssumeClosed:        options.AssumeClosed,
			DescriptionLength:   options.DescriptionLength,
			IncludeOutputSchema: options.IncludeOutputSchema,
			DropDefaults:        options.DropDefaults,
			ProtocolVersion:     options.ProtocolVersion,
		},
		Servers: servers,
	}
	if enums.err != nil {
		return nil, enums.err
	}
	if options.ProtocolVersion == "" {
		request.Options.ProtocolVersion = c.connection.protocolVersion
	}
	for _, tool := range tools {
		target, err := encodeTarget(tool.Tool)
		if err != nil {
			return nil, err
		}
		request.Tools = append(request.Tools,
			&sidecheckv1.ToolToConvert{Tool: target, Server: tool.Server})
	}
	response, err := call[sidecheckv1.ConvertToolsResponse](
		ctx, c.connection, sidecheckv1.ConversionService_ConvertTools_FullMethodName,
		request, c.connection.timeout)
	if err != nil {
		return nil, err
	}
	// The registered tools of servers are as many as the server has.
	if len(servers) == 0 {
		err := checkCount("ConvertToolsResponse.conversions", response.GetConversions(), len(tools))
		if err != nil {
			return nil, err
		}
	}
	if response.GetRequest() == nil {
		return nil, missing("ConvertToolsResponse.request")
	}
	converted := &ConvertedTools{Request: decodeVerdict(response.GetRequest(), 0)}
	for _, message := range response.GetConversions() {
		conversion, err := decodeConversion(message)
		if err != nil {
			return nil, err
		}
		converted.Conversions = append(converted.Conversions, conversion)
	}
	return converted, nil
}

// ConvertToolCall converts a model's call to the params of a tools/call and validates its
// arguments against the original input schema.
//
// call is as the API returned it, as JSON: an element of tool_calls, a function_call item, a
// tool_use block, a functionCall or toolUse part. mappings are those of all tools of the
// request, or that of the called tool ([ConvertedTools.Mappings]). tool is the original; nil
// means the registered definition that the mapping names. A call that cannot be read has
// an invalid verdict. The error MAPPING_MISMATCH means that no mapping has the name in the
// call, or that the mapping belongs to another definition.
func (c *ConversionClient) ConvertToolCall(
	ctx context.Context, toolCall any, mappings []json.RawMessage, tool Target,
	options *ValidationOptions,
) (*ConvertedCall, error) {
	request := &sidecheckv1.ConvertToolCallRequest{}
	var err error
	if request.Call, err = encodeJSON("the call", toolCall); err != nil {
		return nil, err
	}
	for _, mapping := range mappings {
		request.Mappings = append(request.Mappings, mapping)
	}
	if request.Tool, err = encodeTarget(tool); err != nil {
		return nil, err
	}
	if request.Options, err = encodeOptions(options, c.connection.protocolVersion); err != nil {
		return nil, err
	}
	response, err := call[sidecheckv1.ConvertToolCallResponse](
		ctx, c.connection, sidecheckv1.ConversionService_ConvertToolCall_FullMethodName,
		request, c.connection.timeout)
	if err != nil {
		return nil, err
	}
	if response.GetVerdict() == nil {
		return nil, missing("ConvertToolCallResponse.verdict")
	}
	return &ConvertedCall{
		Server:     response.GetServer(),
		Tool:       response.GetTool(),
		CallID:     response.GetCallId(),
		CallParams: receivedJSON(response.GetCallParams()),
		Verdict:    decodeVerdict(response.GetVerdict(), 0),
		Changes:    decodeChanges(response.GetChanges()),
		Name:       response.GetName(),
	}, nil
}

// ConvertToolResult converts a CallToolResult to the message that returns it to the model. An
// invalid result is replaced by a message that the tool failed.
func (c *ConversionClient) ConvertToolResult(
	ctx context.Context, api ModelAPI, result ToolResult, options *ConvertResultOptions,
) (*ConvertedResult, error) {
	if options == nil {
		options = &ConvertResultOptions{}
	}
	var enums enumEncoder
	request := &sidecheckv1.ConvertToolResultRequest{
		Api:    encodeEnum[sidecheckv1.ModelApi](&enums, modelAPIWords, "ModelAPI", api),
		CallId: options.CallID,
		Name:   options.Name,
	}
	if enums.err != nil {
		return nil, enums.err
	}
	var err error
	if request.Result, err = result.encode(); err != nil {
		return nil, err
	}
	request.Context, request.Options, err = encodeCheckOptions(
		&options.Check, c.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	response, err := call[sidecheckv1.ConvertToolResultResponse](
		ctx, c.connection, sidecheckv1.ConversionService_ConvertToolResult_FullMethodName,
		request, c.connection.timeout)
	if err != nil {
		return nil, err
	}
	if len(response.GetMessage()) == 0 {
		return nil, missing("ConvertToolResultResponse.message")
	}
	if response.GetVerdict() == nil {
		return nil, missing("ConvertToolResultResponse.verdict")
	}
	return &ConvertedResult{
		Message: response.GetMessage(),
		Losses:  decodeLosses(response.GetLosses()),
		Verdict: decodeVerdict(response.GetVerdict(), 0),
	}, nil
}

func decodeConversion(message *sidecheckv1.ToolConversion) (ToolConversion, error) {
	conversion := ToolConversion{Server: message.GetServer(), Name: message.GetName()}
	tool := message.GetConverted()
	if tool == nil {
		if message.GetError().GetCode() == 0 {
			return conversion, errNoOutcome()
		}
		conversion.Err = decodeItemError(message.GetError())
		return conversion, nil
	}
	if len(tool.GetJson()) == 0 {
		return conversion, missing("ConvertedTool.json")
	}
	conversion.Converted = &ConvertedTool{
		JSON:            tool.GetJson(),
		Name:            tool.GetName(),
		Strict:          tool.GetStrict(),
		Mapping:         receivedJSON(tool.GetMapping()),
		Losses:          decodeLosses(tool.GetLosses()),
		NotStrictReason: tool.GetNotStrictReason(),
	}
	return conversion, nil
}

func decodeLosses(messages []*sidecheckv1.Loss) []Loss {
	return decodeList(messages, func(message *sidecheckv1.Loss) Loss {
		return Loss{
			Pointer: message.GetPointer(),
			Keyword: message.GetKeyword(),
			Action:  decodeEnum[LossAction](lossActionWords, message.GetAction()),
			Effect:  decodeEnum[LossEffect](lossEffectWords, message.GetEffect()),
			Message: message.GetMessage(),
		}
	})
}
