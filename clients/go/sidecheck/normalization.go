package sidecheck

import (
	"context"
	"encoding/json"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Returned is what a tool returned, to normalize: a [ReturnedValue], [ReturnedContent],
// [ReturnedResult] or [ReturnedError]. The form of a value does not decide what it is.
type Returned interface {
	encodeReturned(*sidecheckv1.NormalizeToolResultRequest) error
}

// ReturnedValue is data.
type ReturnedValue struct {
	// Value is the data, as JSON.
	Value any
}

// ReturnedContent is one content block or a list of them.
type ReturnedContent struct {
	// Content is the block or the list, as JSON.
	Content any
}

// ReturnedResult is a complete CallToolResult.
type ReturnedResult struct {
	// Result is the result, as JSON.
	Result any
}

// ReturnedError says that the tool failed.
type ReturnedError struct {
	// Message is for the model.
	Message string
}

// NormalizeOptions are the options of a normalization.
type NormalizeOptions struct {
	// Tool is what returned the value; its output schema decides the form of the structured
	// content. If it is nil, there is no output schema.
	Tool Target
	// Profile is the contract that the result must fulfil.
	Profile ResultProfile
	// Check has the limits of the verdict. Of its context, only the protocol version is used.
	Check CheckOptions
}

// NormalizedResult is a conforming CallToolResult, with the verdict on what the tool returned.
type NormalizedResult struct {
	// Result is the CallToolResult, as JSON text. Always valid.
	Result json.RawMessage
	// Verdict on the return value. If it is invalid, Result reports the failure.
	Verdict *Verdict
}

// NormalizeToolResult makes a conforming CallToolResult of what a tool returned. One that
// breaks the protocol or the output schema is replaced by a result with isError that names
// the violations. [ClientOptions.OnUnavailable] does not apply.
func (p *ProtocolClient) NormalizeToolResult(
	ctx context.Context, returned Returned, options *NormalizeOptions,
) (*NormalizedResult, error) {
	if options == nil {
		options = &NormalizeOptions{}
	}
	request := &sidecheckv1.NormalizeToolResultRequest{}
	var err error
	request.Context, request.Options, err = encodeCheckOptions(
		&options.Check, p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	if request.Tool, err = encodeTarget(options.Tool); err != nil {
		return nil, err
	}
	var enums enumEncoder
	request.Profile = encodeEnum[sidecheckv1.ResultProfile](
		&enums, profileWords, "Profile", options.Profile)
	if enums.err != nil {
		return nil, enums.err
	}
	if returned != nil {
		if err := returned.encodeReturned(request); err != nil {
			return nil, err
		}
	}
	response, err := call[sidecheckv1.NormalizeToolResultResponse](
		ctx, p.connection, sidecheckv1.ProtocolService_NormalizeToolResult_FullMethodName,
		request, p.connection.timeout)
	if err != nil {
		return nil, err
	}
	if len(response.GetResult()) == 0 {
		return nil, missing("NormalizeToolResultResponse.result")
	}
	if response.GetVerdict() == nil {
		return nil, missing("NormalizeToolResultResponse.verdict")
	}
	return &NormalizedResult{response.GetResult(), decodeVerdict(response.GetVerdict(), 0)}, nil
}

func (r ReturnedValue) encodeReturned(request *sidecheckv1.NormalizeToolResultRequest) error {
	text, err := encodeJSON("ReturnedValue.Value", r.Value)
	request.Returned = &sidecheckv1.NormalizeToolResultRequest_Value{Value: text}
	return err
}

func (r ReturnedContent) encodeReturned(request *sidecheckv1.NormalizeToolResultRequest) error {
	text, err := encodeJSON("ReturnedContent.Content", r.Content)
	request.Returned = &sidecheckv1.NormalizeToolResultRequest_Content{Content: text}
	return err
}

func (r ReturnedResult) encodeReturned(request *sidecheckv1.NormalizeToolResultRequest) error {
	text, err := encodeJSON("ReturnedResult.Result", r.Result)
	request.Returned = &sidecheckv1.NormalizeToolResultRequest_Result{Result: text}
	return err
}

func (r ReturnedError) encodeReturned(request *sidecheckv1.NormalizeToolResultRequest) error {
	request.Returned = &sidecheckv1.NormalizeToolResultRequest_Error{Error: r.Message}
	return nil
}
