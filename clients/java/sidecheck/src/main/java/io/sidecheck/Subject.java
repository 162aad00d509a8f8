package io.sidecheck;

/** A payload and its role. */
public sealed interface Subject {
    /**
     * Arguments of a tool call, validated against the tool's input schema.
     *
     * @param json the arguments
     */
    record Arguments(Json json) implements Subject {}

    /**
     * Structured content of a tool result, validated against the tool's output schema.
     *
     * @param json the content
     */
    record StructuredContent(Json json) implements Subject {}

    /** A result without structured content: invalid if the tool has an output schema. */
    record AbsentContent() implements Subject {}

    /**
     * The complete {@code params} of a {@code tools/call} request. The target must be a tool.
     *
     * @param json the params
     */
    record CallParams(Json json) implements Subject {}

    /**
     * A complete {@code CallToolResult}. The target must be a tool.
     *
     * @param json the result
     */
    record CallResult(Json json) implements Subject {}
}
