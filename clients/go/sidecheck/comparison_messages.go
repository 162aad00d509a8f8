package sidecheck

import (
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// decodeToolComparison returns the comparison in message, nil for nil.
func decodeToolComparison(message *pb.ToolComparison) *ToolComparison {
	if message == nil {
		return nil
	}
	comparison := &ToolComparison{
		Status:              decodeWord[ToolStatus](message.GetStatus(), "STATUS_"),
		Name:                message.GetName(),
		OldName:             message.GetOldName(),
		OldDefinitionDigest: message.GetOldDefinitionDigest(),
		NewDefinitionDigest: message.GetNewDefinitionDigest(),
		AssumeClosed:        decodeLevel(message.GetAssumeClosed()),
		AsWritten:           decodeLevel(message.GetAsWritten()),
	}
	for _, schema := range message.GetSchemas() {
		comparison.Schemas = append(comparison.Schemas, SchemaComparison{
			Part:         decodePart(schema.GetPart()),
			AssumeClosed: decodeSchemaVerdict(schema.GetAssumeClosed()),
			AsWritten:    decodeSchemaVerdict(schema.GetAsWritten()),
		})
	}
	for _, change := range message.GetChanges() {
		comparison.Changes = append(comparison.Changes, DefinitionChange{
			Code:         change.GetCode(),
			Part:         decodePart(change.GetPart()),
			Keyword:      change.GetKeyword(),
			OldLocation:  change.OldLocation,
			NewLocation:  change.NewLocation,
			Message:      change.GetMessage(),
			OldValue:     change.GetOldValue(),
			NewValue:     change.GetNewValue(),
			AssumeClosed: decodeEffect(change.GetAssumeClosed()),
			AsWritten:    decodeEffect(change.GetAsWritten()),
		})
	}
	return comparison
}

func decodeSchemaVerdict(message *pb.SchemaVerdict) SchemaVerdict {
	return SchemaVerdict{
		Relation: decodeWord[SchemaRelation](message.GetRelation(), "SCHEMA_RELATION_"),
		Level:    decodeLevel(message.GetLevel()),
		Reason:   message.GetReason(),
		Witness:  decodeWitness(message.GetWitness()),
	}
}

func decodeEffect(message *pb.ChangeEffect) ChangeEffect {
	return ChangeEffect{decodeLevel(message.GetLevel()), decodeWitness(message.GetWitness())}
}

func decodeWitness(message *pb.Witness) *Witness {
	if message == nil {
		return nil
	}
	return &Witness{
		Payload:          message.GetPayload(),
		Message:          message.GetMessage(),
		InstanceLocation: message.GetInstanceLocation(),
		KeywordLocation:  message.GetKeywordLocation(),
	}
}

func decodeLevel(value pb.ChangeLevel) ChangeLevel {
	return decodeWord[ChangeLevel](value, "CHANGE_LEVEL_")
}

func decodePart(value pb.DefinitionPart) DefinitionPart {
	return decodeWord[DefinitionPart](value, "DEFINITION_PART_")
}
