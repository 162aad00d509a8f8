package sidecheck

import (
	"context"
	"fmt"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Returned is what a tool returned: a [ReturnedValue], [ReturnedContent], [ReturnedResult] or
// [ReturnedError]. The form of a value does not decide what it is.
type Returned interface {
	encodeReturned(*pb.NormalizeToolResultRequest) error
}

// ReturnedValue is data.
type ReturnedValue struct {
	// Value is JSON text, or a value to encode.
	Value any
}

// ReturnedContent is one content block or a list of them.
type ReturnedContent struct {
	// Content is JSON text, or a value to encode.
	Content any
}

// ReturnedResult is a whole CallToolResult.
type ReturnedResult struct {
	// Result is JSON text, or a value to encode.
	Result any
}

// ReturnedError is the message of a tool that failed, for the model.
type ReturnedError string

// NormalizeOptions are the options of a normalization. The zero value and a nil pointer are the
// defaults.
type NormalizeOptions struct {
	// Tool that returned the value, whose output schema decides the form of the structured
	// content. Nil means that there is none.
	Tool Target
	// Profile is the contract that the result must fulfil.
	Profile ResultProfile
	// Check has the protocol version and the limits of the verdict.
	Check CheckOptions
}

// NormalizedResult is a conforming CallToolResult, with the verdict on what the tool returned.
type NormalizedResult struct {
	// Result is the CallToolResult. It is always valid.
	Result JSON
	// Verdict on what the tool returned. If it is invalid, Result reports the failure.
	Verdict *Verdict
}

// NormalizeToolResult makes a conforming CallToolResult of what a tool returned. One that breaks
// the protocol or the output schema is replaced by a result with isError that describes the
// violations.
func (p *ProtocolClient) NormalizeToolResult(
	ctx context.Context, returned Returned, options *NormalizeOptions,
) (*NormalizedResult, error) {
	if returned == nil {
		return nil, fmt.Errorf("%w: nothing was returned", ErrInvalidArgument)
	}
	if options == nil {
		options = &NormalizeOptions{}
	}
	request := pb.NormalizeToolResultRequest{MinRevision: p.connection.minRevision.Load()}
	if err := returned.encodeReturned(&request); err != nil {
		return nil, err
	}
	var err error
	request.Context, request.Options, err = options.Check.encodeCheck(p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	if request.Tool, err = encodeTarget(options.Tool); err != nil {
		return nil, err
	}
	request.Profile, err = encodeWord[pb.ResultProfile](options.Profile, "RESULT_PROFILE_")
	if err != nil {
		return nil, err
	}
	var response pb.NormalizeToolResultResponse
	err = p.connection.call(ctx, pb.ProtocolService_NormalizeToolResult_FullMethodName, &request, &response)
	if err != nil {
		return nil, err
	}
	if len(response.GetResult()) == 0 {
		return nil, missingField(&response, "result")
	}
	if response.GetVerdict() == nil {
		return nil, missingField(&response, "verdict")
	}
	return &NormalizedResult{response.GetResult(), decodeVerdict(response.GetVerdict(), 0)}, nil
}

func (r ReturnedValue) encodeReturned(request *pb.NormalizeToolResultRequest) error {
	text, err := jsonText(r.Value, "value")
	request.Returned = &pb.NormalizeToolResultRequest_Value{Value: text}
	return err
}

func (r ReturnedContent) encodeReturned(request *pb.NormalizeToolResultRequest) error {
	text, err := protocolText(r.Content, "content")
	request.Returned = &pb.NormalizeToolResultRequest_Content{Content: text}
	return err
}

func (r ReturnedResult) encodeReturned(request *pb.NormalizeToolResultRequest) error {
	text, err := protocolText(r.Result, "result")
	request.Returned = &pb.NormalizeToolResultRequest_Result{Result: text}
	return err
}

func (r ReturnedError) encodeReturned(request *pb.NormalizeToolResultRequest) error {
	request.Returned = &pb.NormalizeToolResultRequest_Error{Error: string(r)}
	return nil
}
