package sidecheck

import (
	"context"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ChangeLevel is what a change of a tool means for its callers. It is empty for levels that this
// release does not know.
type ChangeLevel string

const (
	// ChangeLevelCosmetic means that only texts, or data that asserts nothing, differ.
	ChangeLevelCosmetic ChangeLevel = "cosmetic"
	// ChangeLevelCompatible means that every payload that passed still passes: this is proved.
	ChangeLevelCompatible ChangeLevel = "compatible"
	// ChangeLevelRisky means that the same payloads pass, and something that callers rely on may
	// differ.
	ChangeLevelRisky ChangeLevel = "risky"
	// ChangeLevelUndecided means that neither a proof nor a payload that shows the contrary was
	// found.
	ChangeLevelUndecided ChangeLevel = "undecided"
	// ChangeLevelBreaking means that a payload that was valid no longer is, that a result may be
	// what callers do not expect, or that the tool cannot be called any more.
	ChangeLevelBreaking ChangeLevel = "breaking"
)

// SchemaReading is how a schema that leaves an object open is read. The zero value is
// [SchemaReadingAssumeClosed].
type SchemaReading string

const (
	// SchemaReadingAssumeClosed lets an object that declares properties admit no others, unless
	// the schema says so.
	SchemaReadingAssumeClosed SchemaReading = "assume-closed"
	// SchemaReadingAsWritten lets an open object admit properties that it does not declare, as
	// JSON Schema says.
	SchemaReadingAsWritten SchemaReading = "as-written"
)

// SchemaRelation is how the set of values that a schema admits has changed. It is empty for
// relations that this release does not know.
type SchemaRelation string

const (
	// SchemaRelationEqual means the same values.
	SchemaRelationEqual SchemaRelation = "equal"
	// SchemaRelationWidened means all values that it admitted, and maybe others.
	SchemaRelationWidened SchemaRelation = "widened"
	// SchemaRelationNarrowed means no value that it did not admit, and maybe fewer.
	SchemaRelationNarrowed SchemaRelation = "narrowed"
	// SchemaRelationIncomparable means that neither is proved, and a value was found that only
	// one of the schemas admits.
	SchemaRelationIncomparable SchemaRelation = "incomparable"
	// SchemaRelationUndecided means that whether the change breaks callers is undecided.
	SchemaRelationUndecided SchemaRelation = "undecided"
)

// DefinitionPart is a part of a definition. It is empty for parts that this release does not know.
type DefinitionPart string

const (
	// DefinitionPartTool is the tool as a whole, or a property of it that is no schema.
	DefinitionPartTool DefinitionPart = "tool"
	// DefinitionPartInputSchema is the input schema.
	DefinitionPartInputSchema DefinitionPart = "input-schema"
	// DefinitionPartOutputSchema is the output schema.
	DefinitionPartOutputSchema DefinitionPart = "output-schema"
)

// ToolStatus is what became of a tool. It is empty for what this release does not know.
type ToolStatus string

const (
	// ToolStatusAdded means that only the new tools have it.
	ToolStatusAdded ToolStatus = "added"
	// ToolStatusRemoved means that only the old tools had it.
	ToolStatusRemoved ToolStatus = "removed"
	// ToolStatusRenamed means that it has another name, and is equal otherwise.
	ToolStatusRenamed ToolStatus = "renamed"
	// ToolStatusChanged means that its definition differs.
	ToolStatusChanged ToolStatus = "changed"
	// ToolStatusUnchanged means that its definition is equal.
	ToolStatusUnchanged ToolStatus = "unchanged"
)

// ToolSet is a set of tools to compare: [ServerTools] or [Definitions].
type ToolSet interface {
	encodeToolSet() (*pb.ToolSet, error)
}

// ServerTools are registered tools.
type ServerTools struct {
	// Server is the namespace of the server. One without tools is an error.
	Server string
	// Names of the tools; none means all.
	Names []string
}

// Definitions are tools sent with the request, of which there may be none.
type Definitions []ToolDefinition

func (s ServerTools) encodeToolSet() (*pb.ToolSet, error) {
	return &pb.ToolSet{Server: s.Server, Names: s.Names}, nil
}

func (d Definitions) encodeToolSet() (*pb.ToolSet, error) {
	tools, err := encodeDefinitions(d)
	return &pb.ToolSet{Tools: tools}, err
}

// Comparison is the comparison of two sets of tools.
type Comparison struct {
	// Tools are the new ones in their order, and then those that were removed.
	Tools []ToolComparison
	// Level is the worst level of all tools, in the reading of the request.
	Level ChangeLevel
	// RegistryRevision is the revision of the registry in which the tools were resolved.
	RegistryRevision uint64
}

// ToolComparison is the comparison of the definitions of one tool.
type ToolComparison struct {
	// Status is what became of the tool.
	Status ToolStatus
	// Name of the tool; of a renamed one the new name.
	Name string
	// OldName is the name before, if the tool was renamed; otherwise empty.
	OldName string
	// OldDefinitionDigest is the digest of the old definition; empty without a readable one.
	OldDefinitionDigest string
	// NewDefinitionDigest is the digest of the new definition; empty without a readable one.
	NewDefinitionDigest string
	// AssumeClosed is the worst level in the reading [SchemaReadingAssumeClosed].
	AssumeClosed ChangeLevel
	// AsWritten is the worst level in the reading [SchemaReadingAsWritten].
	AsWritten ChangeLevel
	// Schemas are those that differ.
	Schemas []SchemaComparison
	// Changes are all differences.
	Changes []DefinitionChange
}

// SchemaComparison has the verdicts on the change of one schema, in both readings.
type SchemaComparison struct {
	// Part is the schema.
	Part DefinitionPart
	// AssumeClosed is the verdict in the reading [SchemaReadingAssumeClosed].
	AssumeClosed SchemaVerdict
	// AsWritten is the verdict in the reading [SchemaReadingAsWritten].
	AsWritten SchemaVerdict
}

// SchemaVerdict says whether the change of a schema breaks callers, in one reading.
type SchemaVerdict struct {
	// Relation is how the set of values has changed.
	Relation SchemaRelation
	// Level is what that means for callers.
	Level ChangeLevel
	// Reason says why it is undecided; empty if it is not.
	Reason string
	// Witness shows that it breaks callers; nil if it does not.
	Witness *Witness
}

// Witness is a payload that the validator accepts under one version of a schema and rejects under
// the other.
type Witness struct {
	// Payload was valid under the old input schema, or is under the new output schema.
	Payload JSON
	// Message says why it is rejected.
	Message string
	// InstanceLocation is a JSON Pointer into the payload.
	InstanceLocation string
	// KeywordLocation is a JSON Pointer into the schema, to the keyword that rejects it.
	KeywordLocation string
}

// DefinitionChange is one difference between two definitions.
type DefinitionChange struct {
	// Code is stable and in upper snake case, for example MAXIMUM_LOWERED.
	Code string
	// Part of the definition.
	Part DefinitionPart
	// Keyword of the schema; empty if none is involved.
	Keyword string
	// OldLocation is a JSON Pointer into the old definition; nil if it lacks what changed.
	OldLocation *string
	// NewLocation is a JSON Pointer into the new definition; nil if it lacks what changed.
	NewLocation *string
	// Message describes the change, for people.
	Message string
	// OldValue is the old value, shortened, or empty.
	OldValue string
	// NewValue is the new value, shortened, or empty.
	NewValue string
	// AssumeClosed is the effect in the reading [SchemaReadingAssumeClosed].
	AssumeClosed ChangeEffect
	// AsWritten is the effect in the reading [SchemaReadingAsWritten].
	AsWritten ChangeEffect
}

// ChangeEffect is what a change means in one reading.
type ChangeEffect struct {
	// Level of the change.
	Level ChangeLevel
	// Witness is a payload that the change makes invalid; nil if none was found.
	Witness *Witness
}

// Compare tells what changed from the tools before to the tools after, and whether it breaks
// callers. Each set has at most Limits.BatchItems tools. The reading decides Comparison.Level; the
// tools have the levels of both.
func (c *Client) Compare(
	ctx context.Context, before, after ToolSet, reading SchemaReading,
) (*Comparison, error) {
	request := &pb.CompareToolsRequest{MinRevision: c.connection.minRevision.Load()}
	var err error
	if request.Reading, err = encodeWord[pb.SchemaReading](reading, "SCHEMA_READING_"); err != nil {
		return nil, err
	}
	if before != nil {
		if request.Old, err = before.encodeToolSet(); err != nil {
			return nil, err
		}
	}
	if after != nil {
		if request.New, err = after.encodeToolSet(); err != nil {
			return nil, err
		}
	}
	var response pb.CompareToolsResponse
	err = c.connection.call(ctx, pb.RegistryService_CompareTools_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	comparison := &Comparison{
		Level:            decodeLevel(response.GetLevel()),
		RegistryRevision: response.GetRegistryRevision(),
	}
	for _, tool := range response.GetTools() {
		comparison.Tools = append(comparison.Tools, *decodeToolComparison(tool))
	}
	return comparison, nil
}
