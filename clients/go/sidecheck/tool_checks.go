package sidecheck

import (
	"context"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ToolNameOutcome is the outcome of the check of one tool name.
type ToolNameOutcome struct {
	// Verdict on the name; instance locations are empty.
	Verdict *Verdict
	// SDKValid says whether the Python SDK accepts the name.
	SDKValid bool
	// SDKWarnings are the warnings of the Python SDK, verbatim and in its order.
	SDKWarnings []string
	// Sanitized is the name reduced to 64 characters of A-Za-z0-9_-.
	Sanitized string
}

// NameCollision is a set of names that become equal when they are sanitized.
type NameCollision struct {
	// Sanitized is the sanitized name.
	Sanitized string
	// Indexes of the names in the request, from 0.
	Indexes []uint32
}

// CheckedNames is the result of a check of tool names.
type CheckedNames struct {
	// Outcomes of the names, in order.
	Outcomes []ToolNameOutcome
	// Collisions of names once sanitized.
	Collisions []NameCollision
}

// CheckNames checks tool names, individually and as a set; at most Limits.BatchItems. Of the
// context only the protocol version is used.
func (p *ProtocolClient) CheckNames(
	ctx context.Context, names []string, options *CheckOptions,
) (*CheckedNames, error) {
	protocol, limits, err := options.encodeCheck(p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	var response pb.CheckToolNamesResponse
	err = p.connection.call(ctx, pb.ProtocolService_CheckToolNames_FullMethodName,
		&pb.CheckToolNamesRequest{Context: protocol, Options: limits, Names: names}, &response)
	if err != nil {
		return nil, err
	}
	err = requireCount(&response, "outcomes", len(response.GetOutcomes()), len(names))
	if err != nil {
		return nil, err
	}
	checked := &CheckedNames{}
	for _, outcome := range response.GetOutcomes() {
		if outcome.GetVerdict() == nil {
			return nil, missingField(outcome, "verdict")
		}
		checked.Outcomes = append(checked.Outcomes, ToolNameOutcome{
			Verdict:     decodeVerdict(outcome.GetVerdict(), 0),
			SDKValid:    outcome.GetSdkValid(),
			SDKWarnings: outcome.GetSdkWarnings(),
			Sanitized:   outcome.GetSanitized(),
		})
	}
	for _, collision := range response.GetCollisions() {
		checked.Collisions = append(checked.Collisions,
			NameCollision{collision.GetSanitized(), collision.GetIndexes()})
	}
	return checked, nil
}

// Disposition is what a conforming client does with a tool. It is empty for values that this
// release does not know.
type Disposition string

const (
	// DispositionKeep uses the tool.
	DispositionKeep Disposition = "keep"
	// DispositionWarn uses the tool; the violations deserve attention.
	DispositionWarn Disposition = "warn"
	// DispositionDrop ignores the tool and uses the others.
	DispositionDrop Disposition = "drop"
)

// ToolOutcome is the outcome of the check of one tool definition.
type ToolOutcome struct {
	// Name of the tool; empty if the definition has none.
	Name string
	// Pointer is the location of the definition in the tools list, as a JSON Pointer; empty for
	// definitions given separately.
	Pointer string
	// Disposition is what a conforming client does with the tool.
	Disposition Disposition
	// Verdict on the definition; instance locations point into it.
	Verdict *Verdict
}

// CheckedTools is the result of a check of tool definitions.
type CheckedTools struct {
	// Outcomes of the definitions, in order.
	Outcomes []ToolOutcome
	// ToolsListVerdict is the verdict on the tools list apart from the definitions in it.
	ToolsListVerdict *Verdict
}

// CheckTools checks traffic: a whole tools/list result, bare or in its JSON-RPC response, a list
// of definitions, or one definition, as JSON text or a value to encode. The documents are those
// that the schemas refer to.
func (p *ProtocolClient) CheckTools(
	ctx context.Context, list any, documents []Document, options *CheckOptions,
) (*CheckedTools, error) {
	text, err := protocolText(list, "tools")
	if err != nil {
		return nil, err
	}
	encoded, err := encodeDocuments(documents)
	if err != nil {
		return nil, err
	}
	return p.checkTools(ctx, &pb.CheckToolsRequest{ToolsList: text, Documents: encoded}, options)
}

// CheckDefinitions checks definitions before they are registered or listed. They are read as
// [Client.Register] does, with the same violations.
func (p *ProtocolClient) CheckDefinitions(
	ctx context.Context, tools []ToolDefinition, options *CheckOptions,
) (*CheckedTools, error) {
	messages, err := encodeDefinitions(tools)
	if err != nil {
		return nil, err
	}
	return p.checkTools(ctx, &pb.CheckToolsRequest{Tools: messages}, options)
}

func (p *ProtocolClient) checkTools(
	ctx context.Context, request *pb.CheckToolsRequest, options *CheckOptions,
) (*CheckedTools, error) {
	var err error
	request.Context, request.Options, err = options.encodeCheck(p.connection.protocolVersion)
	if err != nil {
		return nil, err
	}
	var response pb.CheckToolsResponse
	err = p.connection.call(ctx, pb.ProtocolService_CheckTools_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	if count := len(request.GetTools()); count > 0 {
		if err := requireCount(&response, "outcomes", len(response.GetOutcomes()), count); err != nil {
			return nil, err
		}
	}
	if response.GetToolsListVerdict() == nil {
		return nil, missingField(&response, "tools_list_verdict")
	}
	checked := &CheckedTools{ToolsListVerdict: decodeVerdict(response.GetToolsListVerdict(), 0)}
	for _, outcome := range response.GetOutcomes() {
		if outcome.GetVerdict() == nil {
			return nil, missingField(outcome, "verdict")
		}
		checked.Outcomes = append(checked.Outcomes, ToolOutcome{
			Name:        outcome.GetName(),
			Pointer:     outcome.GetPointer(),
			Disposition: decodeWord[Disposition](outcome.GetDisposition(), "DISPOSITION_"),
			Verdict:     decodeVerdict(outcome.GetVerdict(), 0),
		})
	}
	return checked, nil
}
