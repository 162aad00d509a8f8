package io.sidecheck;

import io.sidecheck.v1.CheckBatchRequest;
import io.sidecheck.v1.CheckBatchResponse;
import io.sidecheck.v1.CheckElicitationRequest;
import io.sidecheck.v1.CheckElicitationResponse;
import io.sidecheck.v1.CheckElicitationResultRequest;
import io.sidecheck.v1.CheckElicitationResultResponse;
import io.sidecheck.v1.CheckMessageRequest;
import io.sidecheck.v1.CheckMessageResponse;
import io.sidecheck.v1.CheckSamplingRequest;
import io.sidecheck.v1.CheckSamplingResponse;
import io.sidecheck.v1.CheckToolNamesRequest;
import io.sidecheck.v1.CheckToolNamesResponse;
import io.sidecheck.v1.CheckToolResultRequest;
import io.sidecheck.v1.CheckToolResultResponse;
import io.sidecheck.v1.CheckToolsRequest;
import io.sidecheck.v1.CheckToolsResponse;
import io.sidecheck.v1.ListRulesRequest;
import io.sidecheck.v1.ListRulesResponse;
import io.sidecheck.v1.NormalizeToolResultRequest;
import io.sidecheck.v1.NormalizeToolResultResponse;
import io.sidecheck.v1.ProtocolServiceGrpc;
import java.time.Duration;
import java.util.List;

/**
 * Checks messages and definitions against the rules of the MCP specification: {@link
 * Client#protocol}. Violations are returned, never thrown. The client's {@link OnUnavailable}
 * applies to what returns a {@link CheckResult}.
 */
public final class ProtocolClient {
    private final Connection connection;
    private final Duration timeout;
    private final ProtocolContext context;
    private final CheckOptions options;

    ProtocolClient(
            Connection connection,
            Duration timeout,
            ProtocolContext context,
            CheckOptions options) {
        this.connection = connection;
        this.timeout = timeout;
        this.context = context;
        this.options = options;
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
     * Checks a message, a tool result, an elicitation or its result, or a sampling.
     *
     * @param item what to check
     * @return the result
     * @throws SidecheckException if it could not be checked
     */
    public CheckResult check(CheckItem item) {
        return connection.orFallBack(
                () -> send(item), verdict -> new CheckResult(verdict, Json.EMPTY));
    }

    private CheckResult send(CheckItem item) {
        io.sidecheck.v1.CheckItem message = ProtocolMessages.item(item);
        return switch (message.getItemCase()) {
            case ELICITATION -> {
                var response = connection.call(
                        ProtocolServiceGrpc.getCheckElicitationMethod(),
                        CheckElicitationRequest.newBuilder()
                                .setContext(context())
                                .setOptions(options())
                                .setElicitation(message.getElicitation())
                                .build(),
                        CheckElicitationResponse.getDefaultInstance(),
                        timeout);
                yield ProtocolMessages.result(response.hasResult(), response.getResult());
            }
            case ELICITATION_RESULT -> {
                var response = connection.call(
                        ProtocolServiceGrpc.getCheckElicitationResultMethod(),
                        CheckElicitationResultRequest.newBuilder()
                                .setContext(context())
                                .setOptions(options())
                                .setElicitationResult(message.getElicitationResult())
                                .build(),
                        CheckElicitationResultResponse.getDefaultInstance(),
                        timeout);
                yield ProtocolMessages.result(response.hasResult(), response.getResult());
            }
            case SAMPLING -> {
                var response = connection.call(
                        ProtocolServiceGrpc.getCheckSamplingMethod(),
                        CheckSamplingRequest.newBuilder()
                                .setContext(context())
                                .setOptions(options())
                                .setSampling(message.getSampling())
                                .build(),
                        CheckSamplingResponse.getDefaultInstance(),
                        timeout);
                yield ProtocolMessages.result(response.hasResult(), response.getResult());
            }
            case TOOL_RESULT -> {
                var response = connection.call(
                        ProtocolServiceGrpc.getCheckToolResultMethod(),
                        CheckToolResultRequest.newBuilder()
                                .setContext(context())
                                .setOptions(options())
                                .setToolResult(message.getToolResult())
                                .build(),
                        CheckToolResultResponse.getDefaultInstance(),
                        timeout);
                yield ProtocolMessages.result(response.hasResult(), response.getResult());
            }
            case MESSAGE, ITEM_NOT_SET -> {
                var response = connection.call(
                        ProtocolServiceGrpc.getCheckMessageMethod(),
                        CheckMessageRequest.newBuilder()
                                .setContext(context())
                                .setOptions(options())
                                .setMessage(message.getMessage())
                                .build(),
                        CheckMessageResponse.getDefaultInstance(),
                        timeout);
                yield ProtocolMessages.result(response.hasResult(), response.getResult());
            }
        };
    }

    /**
     * Checks items of any kind. A batch beyond the server's limits is sent in several calls, and
     * the deadline is that of each.
     *
     * @param items items
     * @return the outcomes, in order
     * @throws SidecheckException if the batch as a whole failed
     */
    public List<Outcome<CheckResult>> checkBatch(List<CheckItem> items) {
        CheckBatchRequest empty = CheckBatchRequest.newBuilder()
                .setContext(context())
                .setOptions(options())
                .build();
        return connection.callInParts(
                items.stream().map(ProtocolMessages::item).toList(),
                empty.getSerializedSize(),
                part -> connection
                        .call(
                                ProtocolServiceGrpc.getCheckBatchMethod(),
                                empty.toBuilder().addAllItems(part).build(),
                                CheckBatchResponse.getDefaultInstance(),
                                timeout)
                        .getOutcomesList()
                        .stream()
                        .map(ProtocolMessages::outcome)
                        .toList(),
                verdict -> new CheckResult(verdict, Json.EMPTY),
                timeout);
    }

    /**
     * Checks tool names, separately and against each other.
     *
     * @param names names, at most {@code Limits.batchItems}
     * @return the outcomes and collisions
     * @throws SidecheckException if they could not be checked
     */
    public CheckedNames checkNames(List<String> names) {
        return ProtocolMessages.names(
                connection.call(
                        ProtocolServiceGrpc.getCheckToolNamesMethod(),
                        CheckToolNamesRequest.newBuilder()
                                .setContext(context())
                                .setOptions(options())
                                .addAllNames(names)
                                .build(),
                        CheckToolNamesResponse.getDefaultInstance(),
                        timeout),
                names.size());
    }

    /**
     * Checks a tools list: a {@code tools/list} result, bare or in its JSON-RPC response, a list of
     * definitions, or one definition. The options apply to each tool.
     *
     * @param toolsList the tools list
     * @param documents documents that its schemas refer to
     * @return the outcomes
     * @throws SidecheckException if it could not be checked
     */
    public CheckedTools checkTools(Json toolsList, List<Document> documents) {
        // protoc adds the field numbers, because the accessors of the two fields would collide.
        return checkTools(CheckToolsRequest.newBuilder()
                .setToolsList3(toolsList.raw())
                .addAllDocuments(ValidationMessages.documents(documents)));
    }

    /**
     * Checks definitions, separately and against each other. The options apply to each tool.
     *
     * @param definitions definitions
     * @return the outcomes, in order
     * @throws SidecheckException if they could not be checked
     */
    public CheckedTools checkDefinitions(List<Target.ToolDefinition> definitions) {
        CheckedTools checked = checkTools(CheckToolsRequest.newBuilder()
                .addAllTools4(definitions.stream().map(ValidationMessages::inlineTool).toList()));
        Errors.requireCount(checked.outcomes().size(), definitions.size());
        return checked;
    }

    private CheckedTools checkTools(CheckToolsRequest.Builder request) {
        return ProtocolMessages.tools(connection.call(
                ProtocolServiceGrpc.getCheckToolsMethod(),
                request.setContext(context()).setOptions(options()).build(),
                CheckToolsResponse.getDefaultInstance(),
                timeout));
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
    public NormalizedResult normalizeToolResult(
            ReturnValue returned, Target tool, CheckItem.Profile profile) {
        var request = NormalizeToolResultRequest.newBuilder()
                .setContext(context())
                .setOptions(options())
                .setProfile(ProtocolMessages.profile(profile));
        ProtocolMessages.returned(request, returned);
        if (tool != null) {
            request.setTool(ValidationMessages.target(tool));
        }
        return ProtocolMessages.normalized(connection.call(
                ProtocolServiceGrpc.getNormalizeToolResultMethod(),
                request.build(),
                NormalizeToolResultResponse.getDefaultInstance(),
                timeout));
    }

    /**
     * Returns the rules, by code. Pages are fetched as they are iterated, and the deadline is that
     * of each; the iteration throws {@link SidecheckException} if one fails.
     *
     * @param protocolVersion protocol version; "" is all versions, not that of the client
     * @return the rules, which may be iterated several times
     */
    public Iterable<Rule> listRules(String protocolVersion) {
        return new Pages<>(token -> {
            ListRulesResponse response = connection.call(
                    ProtocolServiceGrpc.getListRulesMethod(),
                    ListRulesRequest.newBuilder()
                            .setProtocolVersion(protocolVersion)
                            .setPageToken(token)
                            .build(),
                    ListRulesResponse.getDefaultInstance(),
                    timeout);
            return new Pages.Page<>(
                    ProtocolMessages.rules(response.getRulesList()), response.getNextPageToken());
        });
    }

    private io.sidecheck.v1.ProtocolContext context() {
        return ProtocolMessages.context(context, connection.options.protocolVersion());
    }

    private io.sidecheck.v1.CheckOptions options() {
        return ProtocolMessages.options(options);
    }
}
