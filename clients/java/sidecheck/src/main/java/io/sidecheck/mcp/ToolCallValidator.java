package io.sidecheck.mcp;

import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.sidecheck.Client;
import io.sidecheck.ErrorReason;
import io.sidecheck.Item;
import io.sidecheck.Json;
import io.sidecheck.Repair;
import io.sidecheck.SidecheckException;
import io.sidecheck.Subject;
import io.sidecheck.Target;
import io.sidecheck.UnavailableException;
import io.sidecheck.ValidationOptions;
import io.sidecheck.Verdict;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * Validates the tool calls of an MCP server of the official SDK, and the results of its handlers:
 *
 * <pre>{@code
 * .tools(new ToolCallValidator(client, "weather").wrap(forecast, tides))
 * }</pre>
 *
 * <p>The wrapped tools are registered when the first of them is called, so the server starts
 * without Sidecheck. An invalid call does not reach its handler, and an invalid result does not
 * reach the client: the {@code isError} result of the verdict takes its place. Without an answer of
 * Sidecheck, the client's {@link io.sidecheck.OnUnavailable} decides. What could not be validated is
 * the JSON-RPC error -32603.
 *
 * <p>The SDK does not tell handlers the protocol version that a session has negotiated, so that of
 * the options applies, or else that of the client, or else the default of Sidecheck.
 */
public final class ToolCallValidator {
    private static final Set<String> UNKNOWN = Set.of(ErrorReason.UNKNOWN_TOOL, "NOT_FOUND");

    private final Client client;
    private final String server;
    private final ValidationOptions options;
    private final ValidationOptions resultOptions;
    private final ToolCallListener listener;
    private final ToolRegistrar registrar;

    /**
     * A validator with the default options, which logs reasons.
     *
     * @param client client of Sidecheck, which remains the caller's to close
     * @param server namespace to register the tools under
     */
    public ToolCallValidator(Client client, String server) {
        this(client, server, ValidationOptions.DEFAULTS, new ToolCallListener() {});
    }

    /**
     * A validator.
     *
     * @param client client of Sidecheck, which remains the caller's to close
     * @param server namespace to register the tools under
     * @param options options of the validation of calls; with repairs, the handler gets the repaired
     *     params. An unknown tool is always an error
     * @param listener is told what kept a call from being validated
     */
    public ToolCallValidator(Client client, String server, ValidationOptions options, ToolCallListener listener) {
        this.client = Objects.requireNonNull(client, "client");
        this.server = Objects.requireNonNull(server, "server");
        this.options = options.withOnUnknownTool(ValidationOptions.OnUnknownTool.ERROR);
        // The repairs of arguments are none of a result.
        this.resultOptions = ValidationOptions.DEFAULTS
                .withProtocolVersion(options.protocolVersion())
                .withAssertFormats(options.assertFormats())
                .withHideValues(options.hideValues());
        this.listener = listener;
        this.registrar = new ToolRegistrar(client, server, options.protocolVersion(), listener::onError);
    }

    /**
     * Returns tools whose calls and results are validated. May be called again, for tools that are
     * added later.
     *
     * @param tools tools
     * @return the tools, in order, for the SDK
     */
    public List<SyncToolSpecification> wrap(SyncToolSpecification... tools) {
        return Arrays.stream(tools).map(this::wrapOne).toList();
    }

    private SyncToolSpecification wrapOne(SyncToolSpecification specification) {
        registrar.add(specification.tool());
        return new SyncToolSpecification(
                specification.tool(), (exchange, request) -> handle(exchange, request, specification.callHandler()));
    }

    private CallToolResult handle(
            McpSyncServerExchange exchange,
            CallToolRequest request,
            BiFunction<McpSyncServerExchange, CallToolRequest, CallToolResult> handler) {
        Call call = new Call(request.name());
        Verdict verdict = call.verdict(new Subject.CallParams(ToolMessages.encode(request)), "", options);
        CallToolRequest accepted = request;
        Json repaired = verdict.repair()
                .filter(repair -> verdict.enforced() && repair.valid())
                .map(Repair::payload)
                .orElse(Json.EMPTY);
        if (!repaired.isEmpty()) {
            accepted = ToolMessages.decode(repaired, CallToolRequest.class);
        } else if (verdict.enforced() && !verdict.valid()) {
            return ToolMessages.replacement(verdict);
        }
        CallToolResult result = handler.apply(exchange, accepted);
        if (verdict.isFallback()) {
            // Another call to a server that does not answer would cost another deadline.
            return result;
        }
        Verdict checked =
                call.verdict(new Subject.CallResult(ToolMessages.encode(result)), request.name(), resultOptions);
        return checked.valid() || !checked.enforced() ? result : ToolMessages.replacement(checked);
    }

    /** The validations of one call. Sidecheck may have lost the tools: they are sent again once. */
    private final class Call {
        private final String tool;
        private boolean renewed;

        Call(String tool) {
            this.tool = tool;
        }

        Verdict verdict(Subject subject, String target, ValidationOptions validation) {
            Item item = new Item(subject, new Target.RegisteredTool(server, target), validation);
            Verdict verdict;
            try {
                verdict = registered(() -> client.validate(item));
            } catch (UnavailableException error) {
                listener.onError(error);
                verdict = fallback(error);
            } catch (SidecheckException error) {
                if (!error.jsonRpcError().isEmpty()) {
                    throw ToolMessages.protocolError(error.jsonRpcError());
                }
                listener.onError(error);
                throw ToolMessages.internalError("Sidecheck could not validate the call: " + error.reason());
            }
            if (verdict.isFallback() || !verdict.valid() && !verdict.enforced()) {
                listener.onReport(tool, verdict);
            }
            return verdict;
        }

        private Verdict fallback(UnavailableException error) {
            try {
                return Verdict.ofUnavailable(error, client.options().onUnavailable());
            } catch (UnavailableException unanswered) {
                throw ToolMessages.internalError("Sidecheck is unavailable: " + unanswered.reason());
            }
        }

        private Verdict registered(Supplier<Verdict> validate) {
            ToolRegistrar.Registered registered = registrar.register(null);
            rejectRejected(registered);
            try {
                return validate.get();
            } catch (SidecheckException error) {
                if (!UNKNOWN.contains(error.reason()) || renewed) {
                    throw error;
                }
                renewed = true;
                rejectRejected(registrar.register(registered));
                return validate.get();
            }
        }

        private void rejectRejected(ToolRegistrar.Registered registered) {
            String violation = registered.rejected().get(tool);
            if (violation != null) {
                throw ToolMessages.internalError(
                        "Sidecheck rejected the definition of tool \"" + tool + "\": " + violation);
            }
        }
    }
}
