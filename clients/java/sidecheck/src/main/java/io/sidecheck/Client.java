package io.sidecheck;

import io.grpc.Channel;
import io.sidecheck.v1.DeleteToolsRequest;
import io.sidecheck.v1.DeleteToolsResponse;
import io.sidecheck.v1.GetToolRequest;
import io.sidecheck.v1.GetToolResponse;
import io.sidecheck.v1.InlineTool;
import io.sidecheck.v1.ListToolsRequest;
import io.sidecheck.v1.ListToolsResponse;
import io.sidecheck.v1.RegisterToolsRequest;
import io.sidecheck.v1.RegisterToolsResponse;
import io.sidecheck.v1.RegistryServiceGrpc;
import io.sidecheck.v1.StreamDefaults;
import io.sidecheck.v1.ValidateBatchRequest;
import io.sidecheck.v1.ValidateBatchResponse;
import io.sidecheck.v1.ValidateItem;
import io.sidecheck.v1.ValidateRequest;
import io.sidecheck.v1.ValidateResponse;
import io.sidecheck.v1.ValidateStreamRequest;
import io.sidecheck.v1.ValidationServiceGrpc;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * A client of a Sidecheck server. It connects at its first call, and any number of threads may
 * share it.
 *
 * <p>An invalid payload is returned as a verdict. Where no verdict is possible, {@link
 * SidecheckException} is thrown, or is the outcome of an item of a batch. A thread that is
 * interrupted during a call gets {@link java.util.concurrent.CancellationException} and stays
 * interrupted.
 */
public final class Client implements AutoCloseable {
    private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(30);

    private final Connection connection;
    private final Duration timeout;

    /**
     * A client with the default options.
     *
     * @param address {@code host:port}, {@code dns:///host:port} for all addresses of a host name,
     *     {@code unix:/path} or {@code unix:path}
     * @throws IllegalArgumentException if the address has none of these forms
     */
    public Client(String address) {
        this(address, ClientOptions.DEFAULTS);
    }

    /**
     * A client.
     *
     * @param address as in {@link #Client(String)}
     * @param options options
     * @throws IllegalArgumentException if the address is invalid
     * @throws java.io.UncheckedIOException if a file of the TLS options cannot be read
     */
    public Client(String address, ClientOptions options) {
        this(new Connection(address, options), null);
    }

    private Client(Connection connection, Duration timeout) {
        this.connection = connection;
        this.timeout = timeout;
    }

    /**
     * Returns this client with another deadline for each call. It shares the connection; closing
     * one closes both.
     *
     * @param deadline deadline of each call
     * @return the client
     */
    public Client withTimeout(Duration deadline) {
        return new Client(connection, deadline);
    }

    /**
     * Returns the options.
     *
     * @return the options, with the deadline of the connection
     */
    public ClientOptions options() {
        return connection.options;
    }

    /**
     * Returns the checks against the rules of the MCP specification.
     *
     * @return the checks, with nothing known of the connection and the default options
     */
    public ProtocolClient protocol() {
        return new ProtocolClient(
                connection, timeout, ProtocolContext.UNKNOWN, CheckOptions.DEFAULTS);
    }

    /**
     * Returns the conversions for the APIs of model providers.
     *
     * @return the conversions
     */
    public ConversionClient conversion() {
        return new ConversionClient(connection, timeout);
    }

    /**
     * Returns the inference of definitions and their adaptation to protocol versions.
     *
     * @return the inference
     */
    public InferenceClient inference() {
        return new InferenceClient(connection, timeout);
    }

    /**
     * Returns the connection, for the generated stubs of {@code io.sidecheck.v1}. They throw the
     * exceptions of gRPC and have no default deadline.
     *
     * @return the channel, which this client closes
     */
    public Channel channel() {
        return connection.channel;
    }

    /**
     * Validates the arguments of a tool call.
     *
     * @param target what to validate against
     * @param arguments the arguments
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    public Verdict validate(Target target, Json arguments) {
        return validate(new Item(new Subject.Arguments(arguments), target));
    }

    /**
     * Validates a tool's structured content; see {@link Subject.AbsentContent} for none.
     *
     * @param target what to validate against
     * @param content the content
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    public Verdict validateStructuredContent(Target target, Json content) {
        return validate(new Item(new Subject.StructuredContent(content), target));
    }

    /**
     * Validates the complete {@code params} of a {@code tools/call}.
     *
     * @param target a tool, without its name if the params select it
     * @param params the params
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    public Verdict validateCall(Target target, Json params) {
        return validate(new Item(new Subject.CallParams(params), target));
    }

    /**
     * Validates a complete {@code CallToolResult}.
     *
     * @param target a tool
     * @param result the result
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    public Verdict validateCallResult(Target target, Json result) {
        return validate(new Item(new Subject.CallResult(result), target));
    }

    /**
     * Validates any payload, with options.
     *
     * @param item the payload, its target and its options
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    public Verdict validate(Item item) {
        ValidateRequest.Builder request = ValidateRequest.newBuilder()
                .setSubject(ValidationMessages.subject(item.subject()));
        if (item.target() != null) {
            request.setTarget(ValidationMessages.target(item.target()));
        }
        var options = ValidationMessages.optional(item.options(), version());
        if (options != null) {
            request.setOptions(options);
        }
        return connection.orFallBack(
                () -> {
                    ValidateResponse response = connection.call(
                            ValidationServiceGrpc.getValidateMethod(),
                            request.build(),
                            ValidateResponse.getDefaultInstance(),
                            timeout);
                    Errors.require(response.hasVerdict(), "ValidateResponse.verdict");
                    return ValidationMessages.verdict(
                            response.getVerdict(), response.getRegistryRevision());
                },
                Function.identity());
    }

    /**
     * Validates many payloads. A batch beyond the server's limits is sent in several calls, and the
     * deadline is that of each.
     *
     * @param items payloads
     * @param target target of items without their own; null if all have one
     * @param options options of items without their own; null are the defaults
     * @return the outcomes, in order
     * @throws SidecheckException if the batch as a whole failed
     */
    public List<Outcome<Verdict>> validateBatch(
            List<Item> items, Target target, ValidationOptions options) {
        ValidateBatchRequest.Builder shared = ValidateBatchRequest.newBuilder();
        if (target != null) {
            shared.setTarget(ValidationMessages.target(target));
        }
        var filled = ValidationMessages.optional(options, version());
        if (filled != null) {
            shared.setOptions(filled);
        }
        ValidateBatchRequest empty = shared.build();
        List<ValidateItem> messages =
                items.stream().map(item -> ValidationMessages.item(item, version())).toList();
        return connection.callInParts(
                messages,
                empty.getSerializedSize(),
                part -> {
                    ValidateBatchResponse response = connection.call(
                            ValidationServiceGrpc.getValidateBatchMethod(),
                            empty.toBuilder().addAllItems(part).build(),
                            ValidateBatchResponse.getDefaultInstance(),
                            timeout);
                    return response.getOutcomesList().stream()
                            .map(outcome -> ValidationMessages.outcome(
                                    outcome, response.getRegistryRevision()))
                            .toList();
                },
                Function.identity(),
                timeout);
    }

    /**
     * Opens a stream of payloads with at most 64 items without an outcome.
     *
     * @param target target of items without their own; null if all have one
     * @param options options of items without their own; null are the defaults
     * @return the stream, to be closed
     * @throws SidecheckException if the server does not answer
     */
    public ValidationStream stream(Target target, ValidationOptions options) {
        return stream(target, options, 64);
    }

    /**
     * Opens a stream of payloads. It has no deadline as a whole, unless {@link #withTimeout} gave
     * one.
     *
     * @param target target of items without their own; null if all have one
     * @param options options of items without their own; null are the defaults
     * @param outstanding most items without a received outcome
     * @return the stream, to be closed
     * @throws SidecheckException if the server does not answer
     * @throws IllegalArgumentException if {@code outstanding} is not positive
     */
    public ValidationStream stream(Target target, ValidationOptions options, int outstanding) {
        StreamDefaults.Builder defaults = StreamDefaults.newBuilder();
        if (target != null) {
            defaults.setTarget(ValidationMessages.target(target));
        }
        var filled = ValidationMessages.optional(options, version());
        if (filled != null) {
            defaults.setOptions(filled);
        }
        return new ValidationStream(
                connection,
                ValidateStreamRequest.newBuilder().setDefaults(defaults).build(),
                outstanding,
                timeout);
    }

    /**
     * Registers tools of a server; see {@link #register(String, List, RegistrationOptions)}.
     *
     * @param server namespace of the server
     * @param tools definitions
     * @return the registration
     * @throws ToolsRejectedException if tools were rejected; the others are registered
     */
    public Registration register(String server, List<Target.ToolDefinition> tools) {
        return register(server, tools, RegistrationOptions.DEFAULTS);
    }

    /**
     * Registers tools of a server. Tools that do not fit in one message are sent in several; if one
     * fails, the tools of earlier ones stay registered. The deadline is 30 s for each, unless
     * {@link #withTimeout} gave one.
     *
     * @param server namespace of the server
     * @param tools definitions
     * @param options options
     * @return the registration
     * @throws ToolsRejectedException if tools were rejected, unless they are to be returned
     * @throws SidecheckException if the registration as a whole failed
     * @throws IllegalArgumentException if a tool, or a replacement as a whole, does not fit in a
     *     message; nothing was sent
     */
    public Registration register(
            String server, List<Target.ToolDefinition> tools, RegistrationOptions options) {
        Duration deadline = timeout == null ? REGISTRATION_TIMEOUT : timeout;
        RegisterToolsRequest empty = RegisterToolsRequest.newBuilder()
                .setServer(server)
                .setMode(options.replace()
                        ? io.sidecheck.v1.RegistrationMode.REGISTRATION_MODE_REPLACE
                        : io.sidecheck.v1.RegistrationMode.REGISTRATION_MODE_UPSERT)
                .setChangePolicy(io.sidecheck.v1.ChangePolicy.valueOf(
                        "CHANGE_POLICY_" + options.changePolicy()))
                .setValidateOnly(options.validateOnly())
                .setProtocolVersion(
                        options.protocolVersion().isEmpty() ? version() : options.protocolVersion())
                .build();
        List<InlineTool> messages = tools.stream().map(ValidationMessages::inlineTool).toList();
        long room = connection.limits(deadline).messageBytes() - empty.getSerializedSize();
        List<List<InlineTool>> parts =
                messages.isEmpty() ? List.of(messages) : Connection.split(messages, room, messages.size());
        if (options.replace() && parts.size() > 1) {
            throw new IllegalArgumentException("the tools do not fit in one message of " + room
                    + " bytes, and a replacement cannot be split: register without replace, then"
                    + " delete");
        }
        for (InlineTool message : messages) {
            if (Connection.elementBytes(message) > room) {
                throw new IllegalArgumentException("a tool takes " + Connection.elementBytes(message)
                        + " bytes and one message holds " + room);
            }
        }
        List<Registration.Outcome> outcomes = new ArrayList<>();
        List<String> removed = new ArrayList<>();
        long revision = 0;
        for (List<InlineTool> part : parts) {
            Registration registered = RegistryMessages.registration(
                    connection.call(
                            RegistryServiceGrpc.getRegisterToolsMethod(),
                            empty.toBuilder().addAllTools(part).build(),
                            RegisterToolsResponse.getDefaultInstance(),
                            deadline),
                    part.size());
            outcomes.addAll(registered.outcomes());
            removed.addAll(registered.removed());
            revision = registered.registryRevision();
        }
        Registration registration =
                new Registration(List.copyOf(outcomes), List.copyOf(removed), revision);
        if (!options.returnRejected() && !registration.rejected().isEmpty()) {
            throw new ToolsRejectedException(registration);
        }
        return registration;
    }

    /**
     * Returns a registered tool.
     *
     * @param server namespace of the server
     * @param name name of the tool
     * @param adaptToVersion protocol version to adapt the definition to; "" leaves it as registered
     * @return the tool
     * @throws SidecheckException if there is none, or the call failed
     */
    public Tool get(String server, String name, String adaptToVersion) {
        GetToolResponse response = connection.call(
                RegistryServiceGrpc.getGetToolMethod(),
                GetToolRequest.newBuilder()
                        .setServer(server)
                        .setName(name)
                        .setAdaptToVersion(adaptToVersion)
                        .build(),
                GetToolResponse.getDefaultInstance(),
                timeout);
        Errors.require(response.hasTool(), "GetToolResponse.tool");
        return RegistryMessages.tool(response.getTool());
    }

    /**
     * Returns the registered tools, by server and name. Pages are fetched as they are iterated, and
     * the deadline is that of each; the iteration throws {@link SidecheckException} if one fails.
     *
     * @param server namespace of the server; "" lists all
     * @param adaptToVersion protocol version to adapt the definitions to; "" leaves them
     * @return the tools, which may be iterated several times
     */
    public Iterable<Tool> list(String server, String adaptToVersion) {
        return () -> new Iterator<>() {
            private Iterator<io.sidecheck.v1.Tool> page = fetch("");
            private String token;

            private Iterator<io.sidecheck.v1.Tool> fetch(String pageToken) {
                ListToolsResponse response = connection.call(
                        RegistryServiceGrpc.getListToolsMethod(),
                        ListToolsRequest.newBuilder()
                                .setServer(server)
                                .setAdaptToVersion(adaptToVersion)
                                .setPageToken(pageToken)
                                .build(),
                        ListToolsResponse.getDefaultInstance(),
                        timeout);
                token = response.getNextPageToken();
                return response.getToolsList().iterator();
            }

            @Override
            public boolean hasNext() {
                while (!page.hasNext() && !token.isEmpty()) {
                    page = fetch(token);
                }
                return page.hasNext();
            }

            @Override
            public Tool next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                return RegistryMessages.tool(page.next());
            }
        };
    }

    /**
     * Deletes tools of a server by name.
     *
     * @param server namespace of the server
     * @param names names, at least one
     * @return the deletion
     * @throws SidecheckException if nothing was deleted
     */
    public Deletion delete(String server, List<String> names) {
        Deletion deletion = delete(
                DeleteToolsRequest.newBuilder().setServer(server).addAllNames(names).build());
        if (!names.isEmpty() && deletion.deleted().isEmpty() && deletion.unknown().isEmpty()) {
            throw new InvalidResponseException(
                    "DeleteToolsResponse has no names for those of the request");
        }
        return deletion;
    }

    /**
     * Deletes all tools of a server.
     *
     * @param server namespace of the server
     * @return the deletion
     * @throws SidecheckException if nothing was deleted
     */
    public Deletion deleteAll(String server) {
        return delete(DeleteToolsRequest.newBuilder().setServer(server).setAll(true).build());
    }

    private Deletion delete(DeleteToolsRequest request) {
        DeleteToolsResponse response = connection.call(
                RegistryServiceGrpc.getDeleteToolsMethod(),
                request,
                DeleteToolsResponse.getDefaultInstance(),
                timeout);
        return new Deletion(
                List.copyOf(response.getDeletedList()),
                List.copyOf(response.getUnknownList()),
                response.getRegistryRevision());
    }

    /**
     * Returns the server's version, limits and capabilities.
     *
     * @return the server's information
     * @throws SidecheckException if the call failed
     */
    public ServerInfo info() {
        return connection.info(timeout);
    }

    /** Closes the connection; pending calls fail with {@code CLIENT_CLOSED}. */
    @Override
    public void close() {
        connection.close();
    }

    private String version() {
        return connection.options.protocolVersion();
    }
}
