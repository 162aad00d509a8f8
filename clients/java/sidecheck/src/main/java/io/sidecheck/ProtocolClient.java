package io.sidecheck;

import io.sidecheck.v1.CheckBatchRequest;
import io.sidecheck.v1.CheckBatchResponse;
import io.sidecheck.v1.Elicitation;
import io.sidecheck.v1.ElicitationResult;
import io.sidecheck.v1.ProtocolMessage;
import io.sidecheck.v1.ProtocolServiceGrpc;
import io.sidecheck.v1.ResultProfile;
import io.sidecheck.v1.Sampling;
import io.sidecheck.v1.Sender;
import io.sidecheck.v1.ToolResult;
import java.time.Duration;
import java.util.List;

/**
 * Checks messages against the rules of the MCP specification: {@link Client#protocol}. Violations
 * are returned, never thrown. The client's {@link OnUnavailable} applies.
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
     * Checks one item.
     *
     * @param item a message, tool result, elicitation or sampling
     * @return the result
     * @throws SidecheckException if it could not be checked
     */
    public CheckResult check(CheckItem item) {
        return checkBatch(List.of(item)).get(0).orThrow();
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
                .setOptions(io.sidecheck.v1.CheckOptions.newBuilder()
                        .setMaxViolations(options.maxViolations())
                        .setHideValues(options.hideValues())
                        .setMinSeverity(io.sidecheck.v1.Severity.valueOf(
                                "SEVERITY_" + options.minSeverity())))
                .build();
        return connection.callInParts(
                items.stream().map(ProtocolClient::message).toList(),
                empty.getSerializedSize(),
                part -> connection
                        .call(
                                ProtocolServiceGrpc.getCheckBatchMethod(),
                                empty.toBuilder().addAllItems(part).build(),
                                CheckBatchResponse.getDefaultInstance(),
                                timeout)
                        .getOutcomesList()
                        .stream()
                        .map(ProtocolClient::outcome)
                        .toList(),
                verdict -> new CheckResult(verdict, Json.EMPTY),
                timeout);
    }

    private io.sidecheck.v1.ProtocolContext context() {
        String version = context.protocolVersion().isEmpty()
                ? connection.options.protocolVersion()
                : context.protocolVersion();
        var message = io.sidecheck.v1.ProtocolContext.newBuilder().setProtocolVersion(version);
        if (context.clientCapabilities() != null) {
            message.setClientCapabilities(context.clientCapabilities().raw());
        }
        if (context.serverCapabilities() != null) {
            message.setServerCapabilities(context.serverCapabilities().raw());
        }
        return message.build();
    }

    private static io.sidecheck.v1.CheckItem message(CheckItem item) {
        io.sidecheck.v1.CheckItem.Builder message = io.sidecheck.v1.CheckItem.newBuilder();
        if (item instanceof CheckItem.Elicitation elicitation) {
            message.setElicitation(Elicitation.newBuilder().setParams(elicitation.params().raw()));
        } else if (item instanceof CheckItem.ElicitationResult result) {
            message.setElicitationResult(ElicitationResult.newBuilder()
                    .setResult(result.result().raw())
                    .setParams(result.params().raw()));
        } else if (item instanceof CheckItem.Sampling sampling) {
            message.setSampling(Sampling.newBuilder().setParams(sampling.params().raw()));
        } else if (item instanceof CheckItem.ToolResult result) {
            ToolResult.Builder tool = ToolResult.newBuilder()
                    .setJson(result.result().raw())
                    .setProfile(ResultProfile.valueOf("RESULT_PROFILE_" + result.profile()));
            if (result.tool() != null) {
                tool.setTool(ValidationMessages.target(result.tool()));
            }
            message.setToolResult(tool);
        } else if (item instanceof CheckItem.Message sent) {
            message.setMessage(ProtocolMessage.newBuilder()
                    .setJson(sent.json().raw())
                    .setSender(Sender.valueOf("SENDER_" + sent.sender()))
                    .setRequestMethod(sent.requestMethod())
                    .setRequest(sent.request().raw()));
        }
        return message.build();
    }

    private static Outcome<CheckResult> outcome(io.sidecheck.v1.CheckOutcome outcome) {
        if (!outcome.hasResult()) {
            return new Outcome.Failure<>(Errors.ofItem(outcome.getError()));
        }
        Errors.require(outcome.getResult().hasVerdict(), "CheckResult.verdict");
        return new Outcome.Success<>(new CheckResult(
                ValidationMessages.verdict(outcome.getResult().getVerdict(), 0),
                ValidationMessages.json(outcome.getResult().getErrorResponse())));
    }
}
