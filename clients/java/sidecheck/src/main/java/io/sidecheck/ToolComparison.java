package io.sidecheck;

import java.util.List;
import java.util.Optional;

/**
 * Comparison of the definitions of one tool.
 *
 * @param status what became of the tool
 * @param name name of the tool; of a renamed one the new name
 * @param oldName name before, if the tool was renamed; otherwise ""
 * @param oldDefinitionDigest digest of the old definition; "" without a readable one
 * @param newDefinitionDigest digest of the new definition; "" without a readable one
 * @param assumeClosed worst level in the reading {@link SchemaReading#ASSUME_CLOSED}
 * @param asWritten worst level in the reading {@link SchemaReading#AS_WRITTEN}
 * @param schemas the schemas that differ
 * @param changes all differences
 */
public record ToolComparison(
        Status status,
        String name,
        String oldName,
        String oldDefinitionDigest,
        String newDefinitionDigest,
        ChangeLevel assumeClosed,
        ChangeLevel asWritten,
        List<SchemaComparison> schemas,
        List<Change> changes) {
    /** What became of a tool. */
    public enum Status {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** Only the new tools have it. */
        ADDED,
        /** Only the old tools had it. */
        REMOVED,
        /** It has another name, and is equal otherwise. */
        RENAMED,
        /** Its definition differs. */
        CHANGED,
        /** Its definition is equal. */
        UNCHANGED
    }

    /** Part of a definition. */
    public enum Part {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** The tool as a whole, or a property of it that is no schema. */
        TOOL,
        /** The input schema. */
        INPUT_SCHEMA,
        /** The output schema. */
        OUTPUT_SCHEMA
    }

    /** How the set of values that a schema admits has changed. */
    public enum Relation {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** The same values. */
        EQUAL,
        /** All values that it admitted, and maybe others. */
        WIDENED,
        /** No value that it did not admit, and maybe fewer. */
        NARROWED,
        /** Neither is proved, and a value was found that only one of the schemas admits. */
        INCOMPARABLE,
        /** Whether the change breaks callers is undecided. */
        UNDECIDED
    }

    /**
     * Verdicts on the change of one schema, in both readings.
     *
     * @param part the schema
     * @param assumeClosed verdict in the reading {@link SchemaReading#ASSUME_CLOSED}
     * @param asWritten verdict in the reading {@link SchemaReading#AS_WRITTEN}
     */
    public record SchemaComparison(Part part, SchemaVerdict assumeClosed, SchemaVerdict asWritten) {}

    /**
     * Whether the change of a schema breaks callers, in one reading.
     *
     * @param relation how the set of values has changed
     * @param level what that means for callers
     * @param reason why it is undecided; "" if it is not
     * @param witness payload that shows that it breaks callers; empty if it does not
     */
    public record SchemaVerdict(Relation relation, ChangeLevel level, String reason, Optional<Witness> witness) {}

    /**
     * A payload that the validator accepts under one version of a schema and rejects under the
     * other.
     *
     * @param payload the payload: it was valid under the old input schema, or is under the new
     *     output schema
     * @param message why it is rejected
     * @param instanceLocation JSON Pointer (RFC 6901) into the payload
     * @param keywordLocation JSON Pointer into the schema, to the keyword that rejects it
     */
    public record Witness(Json payload, String message, String instanceLocation, String keywordLocation) {}

    /**
     * One difference between two definitions.
     *
     * @param code stable code in upper snake case, for example {@code MAXIMUM_LOWERED}
     * @param part part of the definition
     * @param keyword keyword of the schema; "" if none is involved
     * @param oldLocation JSON Pointer into the old definition; empty if it lacks what changed
     * @param newLocation JSON Pointer into the new definition; empty if it lacks what changed
     * @param message description of the change, for people
     * @param oldValue old value, shortened, or ""
     * @param newValue new value, shortened, or ""
     * @param assumeClosed effect in the reading {@link SchemaReading#ASSUME_CLOSED}
     * @param asWritten effect in the reading {@link SchemaReading#AS_WRITTEN}
     */
    public record Change(
            String code,
            Part part,
            String keyword,
            Optional<String> oldLocation,
            Optional<String> newLocation,
            String message,
            String oldValue,
            String newValue,
            Effect assumeClosed,
            Effect asWritten) {}

    /**
     * What a change means in one reading.
     *
     * @param level level of the change
     * @param witness payload that the change makes invalid; empty if none was found
     */
    public record Effect(ChangeLevel level, Optional<Witness> witness) {}
}
