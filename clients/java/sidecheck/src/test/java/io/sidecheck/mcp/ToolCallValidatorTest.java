package io.sidecheck.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.sidecheck.Client;
import io.sidecheck.ClientOptions;
import io.sidecheck.Conformance;
import io.sidecheck.OnUnavailable;
import io.sidecheck.RunningServer;
import io.sidecheck.SidecheckException;
import io.sidecheck.ToolsRejectedException;
import io.sidecheck.UnavailableException;
import io.sidecheck.ValidationOptions;
import io.sidecheck.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tools as the SDK calls them; {@code tests/e2e} has a whole server and a client. */
@Timeout(300)
class ToolCallValidatorTest {
    private static final ClientOptions PATIENT = ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(120));
    private static final String INPUT = """
            {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}""";
    private static final String OUTPUT = """
            {"type": "object", "properties": {"count": {"type": "integer", "maximum": 9}}}""";

    private final List<Object> handled = new CopyOnWriteArrayList<>();
    private final List<SidecheckException> errors = new CopyOnWriteArrayList<>();
    private final List<Verdict> reports = new CopyOnWriteArrayList<>();

    private final ToolCallListener listener = new ToolCallListener() {
        @Override
        public void onError(SidecheckException error) {
            errors.add(error);
        }

        @Override
        public void onReport(String tool, Verdict verdict) {
            reports.add(verdict);
        }
    };

    /** A tool that returns its arguments. */
    private SyncToolSpecification tool(String name, String inputSchema) {
        var json = McpJsonDefaults.getMapper();
        return new SyncToolSpecification(
                Tool.builder(name, json, inputSchema).outputSchema(json, OUTPUT).build(), (exchange, request) -> {
                    handled.add(request.arguments());
                    return CallToolResult.builder()
                            .structuredContent(request.arguments())
                            .addTextContent("handled")
                            .build();
                });
    }

    private SyncToolSpecification repeat(Client client, String server, ValidationOptions options) {
        return new ToolCallValidator(client, server, options, listener)
                .wrap(tool("repeat", INPUT))
                .get(0);
    }

    private static CallToolResult call(SyncToolSpecification tool, String name, Object count) {
        return tool.callHandler()
                .apply(
                        null,
                        CallToolRequest.builder(name)
                                .arguments(Map.of("count", count))
                                .build());
    }

    private static void assertText(boolean isError, String text, CallToolResult result) {
        String actual =
                assertInstanceOf(TextContent.class, result.content().get(0)).text();
        assertTrue(actual.contains(text), actual);
        assertEquals(isError, Boolean.TRUE.equals(result.isError()));
    }

    private static McpError assertError(int code, SyncToolSpecification tool, String name) {
        McpError error = assertThrows(McpError.class, () -> call(tool, name, 1));
        assertEquals(code, error.getJsonRpcError().code());
        return error;
    }

    @Test
    void validatesCallsAndResults() {
        try (Client client = Conformance.required().client("real")) {
            SyncToolSpecification repeat = repeat(client, "java wrapper", ValidationOptions.DEFAULTS);
            assertText(false, "handled", call(repeat, "repeat", 1));
            assertText(true, "count: expected an integer", call(repeat, "repeat", "1"));
            assertText(true, "Output validation error", call(repeat, "repeat", 10));
            assertEquals(List.of(Map.of("count", 1), Map.of("count", 10)), handled);
            assertError(-32602, repeat, "none");
            assertEquals(List.of(), errors);
        }
    }

    @Test
    void handsRepairedArgumentsToTheHandler() {
        try (Client client = Conformance.required().client("real")) {
            var options = ValidationOptions.DEFAULTS.withCoercion(ValidationOptions.Coercion.SAFE_SCALARS);
            SyncToolSpecification repeat = repeat(client, "java wrapper with repairs", options);
            assertText(false, "handled", call(repeat, "repeat", "1"));
            assertEquals(List.of(Map.of("count", 1)), handled);
        }
    }

    @Test
    void reportsARejectedToolAndValidatesTheOthers() {
        try (Client client = Conformance.required().client("real")) {
            var tools = new ToolCallValidator(
                            client, "java wrapper of rejected tools", ValidationOptions.DEFAULTS, listener)
                    .wrap(
                            tool("broken", "{\"type\": \"object\", \"properties\": {\"count\": {\"type\": \"any\"}}}"),
                            tool("repeat", INPUT));
            McpError error = assertError(-32603, tools.get(0), "broken");
            assertTrue(error.getMessage().contains("\"broken\": /inputSchema"), error.getMessage());
            assertText(false, "handled", call(tools.get(1), "repeat", 1));
            assertEquals(List.of(Map.of("count", 1)), handled);
            assertEquals(1, errors.size());
            assertInstanceOf(ToolsRejectedException.class, errors.get(0));
        }
    }

    @Test
    void appliesThePolicyWithoutSidecheck(@TempDir Path folder) {
        String address = "unix:" + folder.resolve("none.sock");
        try (Client client = new Client(address, PATIENT.withOnUnavailable(OnUnavailable.ALLOW))) {
            assertText(false, "handled", call(repeat(client, "none", ValidationOptions.DEFAULTS), "repeat", "1"));
        }
        try (Client client = new Client(address, PATIENT.withOnUnavailable(OnUnavailable.DENY))) {
            assertText(true, "Try again later", call(repeat(client, "none", ValidationOptions.DEFAULTS), "repeat", 1));
        }
        try (Client client = new Client(address, PATIENT)) {
            McpError error = assertError(-32603, repeat(client, "none", ValidationOptions.DEFAULTS), "repeat");
            assertTrue(error.getMessage().contains("Sidecheck is unavailable: UNAVAILABLE"), error.getMessage());
        }
        assertEquals(List.of(Map.of("count", "1")), handled);
        assertEquals(3, errors.size());
        errors.forEach(error -> assertInstanceOf(UnavailableException.class, error));
        assertEquals(2, reports.size());
    }

    @Test
    void registersAgainAfterSidecheckHasLostTheTools() throws Exception {
        Conformance conformance = Conformance.required();
        try (RunningServer first = RunningServer.start(conformance, 0, Map.of());
                Client client = new Client(first.address(), PATIENT)) {
            SyncToolSpecification repeat = repeat(client, "weather", ValidationOptions.DEFAULTS);
            assertText(true, "count: expected an integer", call(repeat, "repeat", "1"));
            first.kill();
            try (RunningServer second = RunningServer.start(conformance, first.port(), Map.of())) {
                assertEquals(first.port(), second.port());
                assertText(true, "count: expected an integer", call(repeat, "repeat", "1"));
                assertText(false, "handled", call(repeat, "repeat", 1));
            }
            assertEquals(List.of(), errors);
        }
    }

    @Test
    void onlyReportsVerdictsThatAreNotEnforced() throws Exception {
        Conformance conformance = Conformance.required();
        try (RunningServer server = RunningServer.start(conformance, 0, Map.of("SIDECHECK_REPORT_ONLY", "weather"));
                Client client = new Client(server.address(), PATIENT)) {
            var options = ValidationOptions.DEFAULTS.withCoercion(ValidationOptions.Coercion.SAFE_SCALARS);
            SyncToolSpecification repeat = repeat(client, "weather", options);
            assertText(false, "handled", call(repeat, "repeat", "1"));
            assertText(false, "handled", call(repeat, "repeat", 10));
            assertEquals(List.of(Map.of("count", "1"), Map.of("count", 10)), handled);
            assertEquals(3, reports.size());
            assertEquals(List.of(), errors);
        }
    }
}
