package io.sidecheck;

import io.grpc.Channel;
import java.time.Duration;
import java.util.List;

/**
 * A client of a Sidecheck server. It connects at its first call, and any number of threads may
 * share it.
 *
 * <p>An invalid payload is returned as a verdict. Where no verdict is possible, {@link
 * SidecheckException} is thrown, or is the outcome of an item of a batch. A thread that is
 * interrupted during a call gets {@link java.util.concurrent.CancellationException} and stays
 * interrupted.
 */
public final class Client implements Validator, AutoCloseable {
    private final Connection connection;
    private final Duration timeout;
    private final ValidationCalls validations;
    private final Registry registry;

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
        this.validations = new ValidationCalls(connection, timeout);
        this.registry = new Registry(connection, timeout);
    }

    /**
     * Returns this client with another deadline for each call. It shares the connection; closing
     * one closes both.
     *
     * @param deadline deadline of each call
     * @return the client
     * @throws IllegalArgumentException if the deadline is not positive
     */
    public Client withTimeout(Duration deadline) {
        ClientOptions.requirePositive(deadline);
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
        return new ProtocolClient(connection, timeout, ProtocolContext.UNKNOWN, CheckOptions.DEFAULTS);
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

    @Override
    public Verdict validate(Item item) {
        return validations.validate(item);
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
    public List<Outcome<Verdict>> validateBatch(List<Item> items, Target target, ValidationOptions options) {
        return validations.validateBatch(items, target, options);
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
        return validations.stream(target, options, outstanding);
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
    public Registration register(String server, List<Target.ToolDefinition> tools, RegistrationOptions options) {
        return registry.register(server, tools, options);
    }

    /**
     * Tells what changed from tools before to tools after, and whether it breaks callers. Each set
     * has at most {@code Limits.batchItems} tools.
     *
     * @param before tools as they were
     * @param after tools as they are to be
     * @param reading decides the level of the comparison; its tools have the levels of both
     * @return the comparison
     * @throws SidecheckException if the call failed, or a server or name of the sets is unknown
     */
    public Comparison compare(ToolSet before, ToolSet after, SchemaReading reading) {
        return registry.compare(before, after, reading);
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
        return registry.get(server, name, adaptToVersion);
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
        return registry.list(server, adaptToVersion);
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
        return registry.delete(server, names);
    }

    /**
     * Deletes all tools of a server.
     *
     * @param server namespace of the server
     * @return the deletion
     * @throws SidecheckException if nothing was deleted
     */
    public Deletion deleteAll(String server) {
        return registry.deleteAll(server);
    }

    /**
     * Watches changes of registered tools; see {@link Watch}.
     *
     * @param servers namespaces of the servers; none means all that the caller may use
     * @param options options
     * @return the watch, to be closed
     */
    public Watch watch(List<String> servers, WatchOptions options) {
        return new Watch(connection, servers, options);
    }

    /**
     * Returns the least revision of the registry that requests read.
     *
     * @return the revision; 0 is any
     */
    public long minRevision() {
        return connection.minRevision;
    }

    /**
     * Sets the least revision of the registry that later requests of all methods read, also those
     * of other clients of this connection; 0, the default, is any.
     *
     * <p>Several servers may share a registry, and follow it. Given the revision that a
     * registration or deletion returned, through whatever client, a request waits until its server
     * has it. It fails with {@code REVISION_NOT_REACHED} if the server does not have it after 5 s,
     * and by the deadline if that is earlier.
     *
     * @param revision the revision
     */
    public void setMinRevision(long revision) {
        connection.minRevision = revision;
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
}
