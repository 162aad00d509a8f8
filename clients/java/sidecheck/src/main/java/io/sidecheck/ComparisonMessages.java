package io.sidecheck;

import io.sidecheck.v1.ChangeEffect;
import io.sidecheck.v1.CompareToolsResponse;
import io.sidecheck.v1.DefinitionChange;
import io.sidecheck.v1.DefinitionPart;
import io.sidecheck.v1.SchemaRelation;
import java.util.Optional;

/** Messages of comparisons. */
final class ComparisonMessages {
    private ComparisonMessages() {}

    static io.sidecheck.v1.ToolSet toolSet(ToolSet set) {
        var message = io.sidecheck.v1.ToolSet.newBuilder();
        if (set instanceof ToolSet.ServerTools tools) {
            message.setServer(tools.server()).addAllNames(tools.names());
        } else if (set instanceof ToolSet.Definitions definitions) {
            message.addAllTools(definitions.tools().stream()
                    .map(ValidationMessages::inlineTool)
                    .toList());
        }
        return message.build();
    }

    static io.sidecheck.v1.SchemaReading reading(SchemaReading reading) {
        return io.sidecheck.v1.SchemaReading.valueOf("SCHEMA_READING_" + reading);
    }

    static Comparison comparison(CompareToolsResponse response) {
        return new Comparison(
                response.getToolsList().stream().map(ComparisonMessages::tool).toList(),
                level(response.getLevel()),
                response.getRegistryRevision());
    }

    static ToolComparison tool(io.sidecheck.v1.ToolComparison message) {
        return new ToolComparison(
                status(message.getStatus()),
                message.getName(),
                message.getOldName(),
                message.getOldDefinitionDigest(),
                message.getNewDefinitionDigest(),
                level(message.getAssumeClosed()),
                level(message.getAsWritten()),
                message.getSchemasList().stream()
                        .map(schema -> new ToolComparison.SchemaComparison(
                                part(schema.getPart()),
                                verdict(schema.getAssumeClosed()),
                                verdict(schema.getAsWritten())))
                        .toList(),
                message.getChangesList().stream()
                        .map(ComparisonMessages::change)
                        .toList());
    }

    private static ToolComparison.Change change(DefinitionChange message) {
        return new ToolComparison.Change(
                message.getCode(),
                part(message.getPart()),
                message.getKeyword(),
                message.hasOldLocation() ? Optional.of(message.getOldLocation()) : Optional.empty(),
                message.hasNewLocation() ? Optional.of(message.getNewLocation()) : Optional.empty(),
                message.getMessage(),
                message.getOldValue(),
                message.getNewValue(),
                effect(message.getAssumeClosed()),
                effect(message.getAsWritten()));
    }

    private static ToolComparison.SchemaVerdict verdict(io.sidecheck.v1.SchemaVerdict message) {
        return new ToolComparison.SchemaVerdict(
                relation(message.getRelation()),
                level(message.getLevel()),
                message.getReason(),
                message.hasWitness() ? Optional.of(witness(message.getWitness())) : Optional.empty());
    }

    private static ToolComparison.Effect effect(ChangeEffect message) {
        return new ToolComparison.Effect(
                level(message.getLevel()),
                message.hasWitness() ? Optional.of(witness(message.getWitness())) : Optional.empty());
    }

    static ToolComparison.Witness witness(io.sidecheck.v1.Witness message) {
        return new ToolComparison.Witness(
                ValidationMessages.json(message.getPayload()),
                message.getMessage(),
                message.getInstanceLocation(),
                message.getKeywordLocation());
    }

    private static ChangeLevel level(io.sidecheck.v1.ChangeLevel level) {
        return switch (level) {
            case CHANGE_LEVEL_COSMETIC -> ChangeLevel.COSMETIC;
            case CHANGE_LEVEL_COMPATIBLE -> ChangeLevel.COMPATIBLE;
            case CHANGE_LEVEL_RISKY -> ChangeLevel.RISKY;
            case CHANGE_LEVEL_UNDECIDED -> ChangeLevel.UNDECIDED;
            case CHANGE_LEVEL_BREAKING -> ChangeLevel.BREAKING;
            default -> ChangeLevel.UNSPECIFIED;
        };
    }

    private static ToolComparison.Status status(io.sidecheck.v1.ToolComparison.Status status) {
        return switch (status) {
            case STATUS_ADDED -> ToolComparison.Status.ADDED;
            case STATUS_REMOVED -> ToolComparison.Status.REMOVED;
            case STATUS_RENAMED -> ToolComparison.Status.RENAMED;
            case STATUS_CHANGED -> ToolComparison.Status.CHANGED;
            case STATUS_UNCHANGED -> ToolComparison.Status.UNCHANGED;
            default -> ToolComparison.Status.UNSPECIFIED;
        };
    }

    private static ToolComparison.Part part(DefinitionPart part) {
        return switch (part) {
            case DEFINITION_PART_TOOL -> ToolComparison.Part.TOOL;
            case DEFINITION_PART_INPUT_SCHEMA -> ToolComparison.Part.INPUT_SCHEMA;
            case DEFINITION_PART_OUTPUT_SCHEMA -> ToolComparison.Part.OUTPUT_SCHEMA;
            default -> ToolComparison.Part.UNSPECIFIED;
        };
    }

    private static ToolComparison.Relation relation(SchemaRelation relation) {
        return switch (relation) {
            case SCHEMA_RELATION_EQUAL -> ToolComparison.Relation.EQUAL;
            case SCHEMA_RELATION_WIDENED -> ToolComparison.Relation.WIDENED;
            case SCHEMA_RELATION_NARROWED -> ToolComparison.Relation.NARROWED;
            case SCHEMA_RELATION_INCOMPARABLE -> ToolComparison.Relation.INCOMPARABLE;
            case SCHEMA_RELATION_UNDECIDED -> ToolComparison.Relation.UNDECIDED;
            default -> ToolComparison.Relation.UNSPECIFIED;
        };
    }
}
