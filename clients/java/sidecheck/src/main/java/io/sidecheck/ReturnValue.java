package io.sidecheck;

/** What a tool returned, to be made a {@code CallToolResult}. Nothing is guessed from its form. */
public sealed interface ReturnValue {
    /**
     * Data.
     *
     * @param json the data
     */
    record Value(Json json) implements ReturnValue {}

    /**
     * One content block, or a list of them.
     *
     * @param json the content
     */
    record Content(Json json) implements ReturnValue {}

    /**
     * A complete {@code CallToolResult}, with structured content in the form of the definition.
     *
     * @param json the result
     */
    record Result(Json json) implements ReturnValue {}

    /**
     * A failure of the tool.
     *
     * @param message its message, for the model
     */
    record Failure(String message) implements ReturnValue {}
}
