package io.sidecheck;

/** One item of {@link ProtocolClient#checkBatch}. */
public sealed interface CheckItem {
    /**
     * The {@code params} of an {@code elicitation/create} request.
     *
     * @param params the params
     */
    record Elicitation(Json params) implements CheckItem {}

    /**
     * The result of an {@code elicitation/create} request.
     *
     * @param result the result
     * @param params those of the request; if empty, the content is not validated against its schema
     */
    record ElicitationResult(Json result, Json params) implements CheckItem {}

    /**
     * The {@code params} of a {@code sampling/createMessage} request, with the whole history.
     *
     * @param params the params
     */
    record Sampling(Json params) implements CheckItem {}

    /**
     * A {@code CallToolResult}.
     *
     * @param result the result
     * @param profile contract that it must fulfil
     * @param tool tool whose output schema applies to the structured content; null skips that
     */
    record ToolResult(Json result, ResultProfile profile, Target tool) implements CheckItem {}

    /**
     * A JSON-RPC message, or a batch where the protocol version has batches.
     *
     * @param json the message
     * @param sender its sender
     * @param requestMethod for a response: method of its request, or ""
     * @param request for a response: its request, or empty; takes precedence
     */
    record Message(Json json, Sender sender, String requestMethod, Json request) implements CheckItem {
        /**
         * A request or notification.
         *
         * @param json the message
         * @param sender its sender
         */
        public Message(Json json, Sender sender) {
            this(json, sender, "", Json.EMPTY);
        }
    }
}
