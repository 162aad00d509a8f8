package io.sidecheck.mcp;

import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.sidecheck.Client;
import io.sidecheck.Json;
import io.sidecheck.Registration;
import io.sidecheck.RegistrationOptions;
import io.sidecheck.RegistrationOutcome;
import io.sidecheck.Severity;
import io.sidecheck.SidecheckException;
import io.sidecheck.Target;
import io.sidecheck.ToolsRejectedException;
import io.sidecheck.Violation;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** Registers the tools of one MCP server when a call first needs them; it never removes any. */
final class ToolRegistrar {
    /** The server compiles the schemas of all tools. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Client client;
    private final String server;
    private final String protocolVersion;
    private final Consumer<SidecheckException> onError;

    /** One registration at a time; the others wait and share its outcome. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Map<String, Json> definitions = new LinkedHashMap<>();
    private volatile Registered current;
    private volatile long attempts;
    private SidecheckException failure;

    /** A registration: the first violation of each rejected tool, by name. */
    record Registered(Map<String, String> rejected) {}

    ToolRegistrar(Client client, String server, String protocolVersion, Consumer<SidecheckException> onError) {
        this.client = client;
        this.server = server;
        this.protocolVersion = protocolVersion;
        this.onError = onError;
    }

    /** Adds a tool; what differs is registered at the next call. */
    void add(Tool tool) {
        Json definition = ToolMessages.encode(tool);
        lock.lock();
        try {
            if (!definition.equals(definitions.put(tool.name(), definition))) {
                current = null;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns the registration, made if there is none later than {@code previous}, or null. */
    Registered register(Registered previous) {
        long before = attempts;
        Registered registered = current;
        if (registered != null && registered != previous) {
            return registered;
        }
        lock.lock();
        try {
            registered = current;
            if (registered != null && registered != previous) {
                return registered;
            }
            if (failure != null && attempts != before) {
                // Otherwise each waiting call would wait for a deadline of its own.
                throw failure;
            }
            current = send();
            return current;
        } finally {
            lock.unlock();
        }
    }

    private Registered send() {
        List<Target.ToolDefinition> tools =
                definitions.values().stream().map(Target.ToolDefinition::new).toList();
        var options = RegistrationOptions.DEFAULTS.withProtocolVersion(protocolVersion);
        failure = null;
        try {
            client.withTimeout(TIMEOUT).register(server, tools, options);
            return new Registered(Map.of());
        } catch (ToolsRejectedException rejected) {
            onError.accept(rejected);
            return new Registered(rejections(rejected.registration()));
        } catch (SidecheckException error) {
            failure = error;
            throw error;
        } finally {
            attempts++;
        }
    }

    private static Map<String, String> rejections(Registration registration) {
        Map<String, String> rejections = new LinkedHashMap<>();
        for (RegistrationOutcome outcome : registration.rejected()) {
            rejections.put(
                    outcome.name(),
                    outcome.violations().stream()
                            .filter(violation -> violation.severity() == Severity.ERROR)
                            .findFirst()
                            .map(Violation::toString)
                            .orElse("the definition is invalid"));
        }
        return rejections;
    }
}
