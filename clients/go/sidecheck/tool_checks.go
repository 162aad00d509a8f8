package sidecheck

import (
	"context"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// CheckedNames is the result of a check of tool names.
type CheckedNames struct {
	// Outcomes of the names, in order.
	Outcomes []ToolNameOutcome
	// Collisions are names that become equal when they are sanitized.
	Collisions []NameCollision
}

// ToolNameOutcome is the outcome of the check of one tool name.
type ToolNameOutcome struct {
	// Verdict on the name; its locations are empty.
	Verdict *Verdict
	// SDKValid reports whether the Python SDK accepts the name: 1 to 128 characters of
	// A-Za-z0-9_.-.
	SDKValid bool
	// SDKWarnings are those of the Python SDK, verbatim and in its order.
	SDKWarnings []string
	// Sanitized is the name reduced to 64 characters of A-Za-z0-9_-.
	Sanitized string
}

// NameCollision is a set of names that become equal when they are sanitized.
type NameCollision struct {
	// Sanitized is the name that they become.
	Sanitized string
	// Indexes of the names in the request, from 0.
	Indexes []uint32
}

// CheckedTools is the result of a check of tool definitions.
type CheckedTools struct {
	// Outcomes of the definitions, in order.
	Outcomes []ToolOutcome
	// ToolsListVerdict is the verdict on a tools list apart from the definitions in it.
	ToolsListVerdict *Verdict
}

// Disposition is what a conforming client does with a tool.
type Disposition string

// Dispositions.
const (
	// DispositionUnspecified stands for a value that this release does not know.
	DispositionUnspecified Disposition = ""
	// DispositionKeep means that it uses the tool.
	DispositionKeep Disposition = "keep"
	// DispositionWarn means that it uses the tool, and that the violations deserve attention.
	DispositionWarn Disposition = "warn"
	// DispositionDrop means that it ignores the tool and uses the others.
	DispositionDrop Disposition = "drop"
)

// ToolOutcome is the outcome of the check of one tool definition.
type ToolOutcome struct {
	// Name of the tool. Empty if the definition has none.
	Name string
	// Pointer is a JSON Pointer to the definition in a tools list. Empty for definitions
	// given one by one.
	Pointer string
	// Disposition is what a conforming client does with the tool.
	Disposition Disposition
	// Verdict on the definition; instance locations point into it.
	Verdict *Verdict
}

// CheckNames checks tool names, at most [Limits].BatchItems, individually and as a set. Of the
// context in options, only the protocol version is used.
func (p *ProtocolClient) CheckNames(
	ctx context.Context, names []string, options *CheckOptions,
) (*CheckedNames, error) {
	request := &sidecheckv1.CheckToolNamesRequest{Names: names}
	var err error
	request.Context, request.Options, err = encodeCheckOptions(options, p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	response, err := call[sidecheckv1.CheckToolNamesResponse](
		ctx, p.connection, sidecheckv1.ProtocolService_CheckToolNames_FullMethodName,
		request, p.connection.timeout)
	if err != nil {
		return nil, err
	}
	err = checkCount("CheckToolNamesResponse.outcomes", response.GetOutcomes(), len(names))
	if err != nil {
		return nil, err
	}
	checked := &CheckedNames{
		Collisions: decodeList(response.GetCollisions(),
			func(message *sidecheckv1.NameCollision) NameCollision {
				return NameCollision{message.GetSanitized(), message.GetIndexes()}
			}),
	}
	for _, message := range response.GetOutcomes() {
		if message.GetVerdict() == nil {
			return nil, missing("ToolNameOutcome.verdict")
		}
		checked.Outcomes = append(checked.Outcomes, ToolNameOutcome{
			Verdict:     decodeVerdict(message.GetVerdict(), 0),
			SDKValid:    message.GetSdkValid(),
			SDKWarnings: message.GetSdkWarnings(),
			Sanitized:   message.GetSanitized(),
		})
	}
	return checked, nil
}

// CheckTools checks traffic: a tools/list result, bare or in its JSON-RPC response, a list of
// definitions, or one definition, as JSON. documents are those that its schemas refer to.
func (p *ProtocolClient) CheckTools(
	ctx context.Context, toolsList any, documents []Document, options *CheckOptions,
) (*CheckedTools, error) {
	text, err := encodeJSON("the tools list", toolsList)
	if err != nil {
		return nil, err
	}
	messages, err := encodeDocuments(documents)
	if err != nil {
		return nil, err
	}
	return p.checkTools(
		ctx, &sidecheckv1.CheckToolsRequest{ToolsList: text, Documents: messages}, options)
}

// CheckDefinitions checks tool definitions before they are registered or listed. They are
// read as [Client.Register] does, with the same violations.
func (p *ProtocolClient) CheckDefinitions(
	ctx context.Context, tools []ToolDefinition, options *CheckOptions,
) (*CheckedTools, error) {
	messages, err := encodeInlineTools(tools)
	if err != nil {
		return nil, err
	}
	return p.checkTools(ctx, &sidecheckv1.CheckToolsRequest{Tools: messages}, options)
}

func (p *ProtocolClient) checkTools(
	ctx context.Context, request *sidecheckv1.CheckToolsRequest, options *CheckOptions,
) (*CheckedTools, error) {
	var err error
	request.Context, request.Options, err = encodeCheckOptions(options, p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	response, err := call[sidecheckv1.CheckToolsResponse](
		ctx, p.connection, sidecheckv1.ProtocolService_CheckTools_FullMethodName,
		request, p.connection.timeout)
	if err != nil {
		return nil, err
	}
	if count := len(request.GetTools()); count > 0 {
		err := checkCount("CheckToolsResponse.outcomes", response.GetOutcomes(), count)
		if err != nil {
			return nil, err
		}
	}
	if response.GetToolsListVerdict() == nil {
		return nil, missing("CheckToolsResponse.tools_list_verdict")
	}
	checked := &CheckedTools{ToolsListVerdict: decodeVerdict(response.GetToolsListVerdict(), 0)}
	for _, message := range response.GetOutcomes() {
		if message.GetVerdict() == nil {
			return nil, missing("ToolOutcome.verdict")
		}
		checked.Outcomes = append(checked.Outcomes, ToolOutcome{
			Name:        message.GetName(),
			Pointer:     message.GetPointer(),
			Disposition: decodeEnum[Disposition](dispositionWords, message.GetDisposition()),
			Verdict:     decodeVerdict(message.GetVerdict(), 0),
		})
	}
	return checked, nil
}
