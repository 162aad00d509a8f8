package io.sidecheck;

import java.time.Duration;
import java.util.List;

/**
 * Checks messages and definitions against the rules of the MCP specification: {@link
 * Client#protocol}. Violations are returned, never thrown. The client's {@link OnUnavailable}
 * applies to what returns a {@link CheckResult}, except in a session.
 */
public final class ProtocolClient {
    private final Connection connection;
    private final Duration timeout;
    private final ProtocolContext context;
    private final CheckOptions options;
    private final ProtocolCalls calls;

    ProtocolClient(Connection connection, Duration timeout, ProtocolContext context, CheckOptions options) {
        this.connection = connection;
        this.timeout = timeout;
        this.context = context;
        this.options = options;
        this.calls = new ProtocolCalls(
                connection,
                timeout,
                ProtocolMessages.context(context, connection.options.protocolVersion()),
                ProtocolMessages.options(options));
    }

    /**
     * Returns the checks for a connection.
     *
     * @param value protocol version and capabilities
     * @return the checks
     */
    public ProtocolClient withContext(ProtocolContext value) {
        return new ProtocolClient(connection, timeout, value, options);
    }

    /**
     * Returns the checks with another amount of detail.
     *
     * @param value options
     * @return the checks
     */
    public ProtocolClient withOptions(CheckOptions value) {
        return new ProtocolClient(connection, timeout, context, value);
    }

    /**
     * Checks tool names, separately and against each other.
     *
     * @param names names, at most {@code Limits.batchItems}
     * @return the outcomes, in order
     * @throws SidecheckException if they could not be checked
     */
    public CheckedNames checkNames(List<String> names) {
        return calls.checkNames(names);
    }

    /**
     * Checks a tools list as the specification has it: a {@code tools/list} result, bare or in its
     * JSON-RPC response, a list of definitions, or one definition. The options apply to each tool.
     *
     * @param toolsList the list
     * @param documents documents that its schemas refer to
     * @return the outcomes, in order
     * @throws SidecheckException if it could not be checked
     */
    public CheckedTools checkTools(Json toolsList, List<Document> documents) {
        return calls.checkTools(toolsList, documents);
    }

    /**
     * Checks definitions, separately and against each other. The options apply to each tool.
     *
     * @param definitions definitions
     * @return the outcomes, in order
     * @throws SidecheckException if they could not be checked
     */
    public CheckedTools checkDefinitions(List<Target.ToolDefinition> definitions) {
        return calls.checkDefinitions(definitions);
    }

    /**
     * Checks the {@code params} of an {@code elicitation/create} request.
     *
     * @param params the params
     * @return the result
     * @throws SidecheckException if they could not be checked
     */
    public CheckResult checkElicitation(Json params) {
        return calls.check(new CheckItem.Elicitation(params));
    }

    /**
     * Checks the result of an {@code elicitation/create} request.
     *
     * @param result the result
     * @param params those of the request; if empty, the content is not validated against the
     *     requested schema
     * @return the check's result
     * @throws SidecheckException if it could not be checked
     */
    public CheckResult checkElicitationResult(Json result, Json params) {
        return calls.check(new CheckItem.ElicitationResult(result, params));
    }

    /**
     * Checks the {@code params} of a {@code sampling/createMessage} request.
     *
     * @param params the params, with the whole history
     * @return the result
     * @throws SidecheckException if they could not be checked
     */
    public CheckResult checkSampling(Json params) {
        return calls.check(new CheckItem.Sampling(params));
    }

    /**
     * Checks a {@code CallToolResult} against the specification, apart from its structured content.
     *
     * @param result the result
     * @return the check's result
     * @throws SidecheckException if it could not be checked
     */
    public CheckResult checkToolResult(Json result) {
        return checkToolResult(result, ResultProfile.SPECIFICATION, null);
    }

    /**
     * Checks a {@code CallToolResult}.
     *
     * @param result the result
     * @param profile contract that it must fulfil
     * @param tool tool whose output schema applies to the structured content; null skips that
     * @return the check's result
     * @throws SidecheckException if it could not be checked
     */
    public CheckResult checkToolResult(Json result, ResultProfile profile, Target tool) {
        return calls.check(new CheckItem.ToolResult(result, profile, tool));
    }

    /**
     * Checks a JSON-RPC message, of a response only the envelope.
     *
     * @param message the message, or a batch where the protocol version has batches
     * @param sender its sender
     * @return the result
     * @throws SidecheckException if it could not be checked
     */
    public CheckResult checkMessage(Json message, Sender sender) {
        return calls.check(new CheckItem.Message(message, sender));
    }

    /**
     * Checks a JSON-RPC response with what is known of its request.
     *
     * @param response the response
     * @param sender its sender
     * @param requestMethod method of its request, or ""
     * @param request its request, or empty; takes precedence
     * @return the result
     * @throws SidecheckException if it could not be checked
     */
    public CheckResult checkMessage(Json response, Sender sender, String requestMethod, Json request) {
        return calls.check(new CheckItem.Message(response, sender, requestMethod, request));
    }

    /**
     * Checks items of any kind. A batch beyond the server's limits is sent in several calls, and
     * the deadline is that of each.
     *
     * @param items items
     * @return the outcomes, in order
     * @throws SidecheckException if the batch as a whole failed
     */
    public List<Outcome<CheckResult>> checkBatch(List<? extends CheckItem> items) {
        return calls.checkBatch(items);
    }

    /**
     * Makes a conforming {@code CallToolResult} of what a tool returned. The client's {@link
     * OnUnavailable} does not apply.
     *
     * @param returned what the tool returned
     * @param tool the tool, with its output schema; null if there is none
     * @param profile contract that the result must fulfil
     * @return the result
     * @throws SidecheckException if nothing could be normalized
     */
    public NormalizedResult normalizeToolResult(ReturnValue returned, Target tool, ResultProfile profile) {
        return calls.normalizeToolResult(returned, tool, profile);
    }

    /**
     * Returns the rules, by code. Pages are fetched as they are iterated, and the deadline is that
     * of each; the iteration throws {@link SidecheckException} if one fails.
     *
     * @param protocolVersion protocol version; "" is all versions, not that of the client
     * @return the rules, which may be iterated several times
     */
    public Iterable<Rule> listRules(String protocolVersion) {
        return calls.listRules(protocolVersion);
    }

    /**
     * Opens a session that is checked from its beginning; see {@link #session(SessionOptions)}.
     *
     * @return the session, to be closed
     * @throws SidecheckException if the server does not answer
     */
    public Session session() {
        return session(SessionOptions.DEFAULTS);
    }

    /**
     * Opens a session. The context is what is known before its first message; without a protocol
     * version, in it or of the client, the one that the session negotiates applies. It has no
     * deadline as a whole, unless {@link Client#withTimeout} gave one.
     *
     * @param session options
     * @return the session, to be closed
     * @throws SidecheckException if the server does not answer
     */
    public Session session(SessionOptions session) {
        return calls.session(session);
    }
}
