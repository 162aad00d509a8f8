package sidecheck

import (
	"context"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ConversionClient converts tools, calls and results for the APIs of model providers:
// Client.Conversion. What an API cannot express is reported as a [Loss]. An error means that
// nothing was converted.
type ConversionClient struct{ connection *connection }

// ConvertTools converts tools for one request to api, with names that are unique in it. The
// registered tools of servers follow tools, by name. Together they may be as many as
// Limits.BatchItems.
func (c *ConversionClient) ConvertTools(
	ctx context.Context, api ModelAPI, tools []ToolToConvert, servers []string,
	options *ConversionOptions,
) (*ConvertedTools, error) {
	number, err := encodeWord[pb.ModelApi](api, "MODEL_API_")
	if err != nil {
		return nil, err
	}
	encoded, err := options.encode(c.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	request := &pb.ConvertToolsRequest{
		Api: number, Options: encoded, Servers: servers, MinRevision: c.connection.minRevision.Load(),
	}
	for _, tool := range tools {
		target, err := encodeTarget(tool.Tool)
		if err != nil {
			return nil, err
		}
		request.Tools = append(request.Tools, &pb.ToolToConvert{Tool: target, Server: tool.Server})
	}
	var response pb.ConvertToolsResponse
	err = c.connection.call(ctx, pb.ConversionService_ConvertTools_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	// The registered tools of servers are as many as the server has.
	if len(servers) == 0 {
		err := requireCount(&response, "conversions", len(response.GetConversions()), len(tools))
		if err != nil {
			return nil, err
		}
	}
	if response.GetRequest() == nil {
		return nil, missingField(&response, "request")
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

// decodeConversion returns the conversion in message. The error means that the response is
// invalid.
func decodeConversion(message *pb.ToolConversion) (ToolConversion, error) {
	conversion := ToolConversion{Server: message.GetServer(), Name: message.GetName()}
	converted := message.GetConverted()
	if converted == nil {
		conversion.Err = decodeItemError(message.GetError())
		if isInvalidResponse(conversion.Err) {
			return conversion, conversion.Err
		}
		return conversion, nil
	}
	if len(converted.GetJson()) == 0 {
		return conversion, missingField(converted, "json")
	}
	conversion.Converted = &ConvertedTool{
		JSON:            converted.GetJson(),
		Name:            converted.GetName(),
		Strict:          converted.GetStrict(),
		Mapping:         converted.GetMapping(),
		Losses:          decodeAll(converted.GetLosses(), decodeLoss),
		NotStrictReason: converted.GetNotStrictReason(),
	}
	return conversion, nil
}

// ConvertToolCall converts the call of a model to the params of a tools/call and validates it
// with options against the original input schema.
//
// Call is as the API returned it: an element of tool_calls, a function_call item, a tool_use
// block, a functionCall or toolUse part. Mappings are that of the tool, or those of all tools of
// the request; see [ConvertedTools.Mappings]. Tool is the original; nil means the registered
// definition that the mapping names. A call that cannot be read has an invalid verdict.
func (c *ConversionClient) ConvertToolCall(
	ctx context.Context, call any, mappings []any, tool Target, options *Options,
) (*ConvertedCall, error) {
	text, err := protocolText(call, "call")
	if err != nil {
		return nil, err
	}
	target, err := encodeTarget(tool)
	if err != nil {
		return nil, err
	}
	encoded, err := options.encode(c.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	request := &pb.ConvertToolCallRequest{
		Call: text, Tool: target, Options: encoded, MinRevision: c.connection.minRevision.Load(),
	}
	for _, mapping := range mappings {
		text, err := protocolText(mapping, "mapping")
		if err != nil {
			return nil, err
		}
		request.Mappings = append(request.Mappings, text)
	}
	var response pb.ConvertToolCallResponse
	err = c.connection.call(ctx, pb.ConversionService_ConvertToolCall_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	if response.GetVerdict() == nil {
		return nil, missingField(&response, "verdict")
	}
	return &ConvertedCall{
		Server:     response.GetServer(),
		Tool:       response.GetTool(),
		CallID:     response.GetCallId(),
		CallParams: response.GetCallParams(),
		Verdict:    decodeVerdict(response.GetVerdict(), 0),
		Changes:    decodeAll(response.GetChanges(), decodeChange),
		Name:       response.GetName(),
	}, nil
}

// ConvertToolResult converts a CallToolResult to the message that returns it to the model.
func (c *ConversionClient) ConvertToolResult(
	ctx context.Context, api ModelAPI, result ToolResultToConvert, options *CheckOptions,
) (*ConvertedResult, error) {
	number, err := encodeWord[pb.ModelApi](api, "MODEL_API_")
	if err != nil {
		return nil, err
	}
	encoded, err := result.ToolResult.encode()
	if err != nil {
		return nil, err
	}
	protocol, limits, err := options.encodeCheck(c.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	var response pb.ConvertToolResultResponse
	err = c.connection.call(ctx, pb.ConversionService_ConvertToolResult_FullMethodName,
		&pb.ConvertToolResultRequest{
			Api: number, Result: encoded, CallId: result.CallID, Name: result.Name,
			Context: protocol, Options: limits, MinRevision: c.connection.minRevision.Load(),
		}, &response)
	if err != nil {
		return nil, err
	}
	if len(response.GetMessage()) == 0 {
		return nil, missingField(&response, "message")
	}
	if response.GetVerdict() == nil {
		return nil, missingField(&response, "verdict")
	}
	return &ConvertedResult{
		Message: response.GetMessage(),
		Losses:  decodeAll(response.GetLosses(), decodeLoss),
		Verdict: decodeVerdict(response.GetVerdict(), 0),
	}, nil
}
