package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls to the servers that {@code tests/conformance} starts. */
class ServerTest {
    private static final Json TOOL =
            Json.of(Map.of("name", "search", "inputSchema", Map.of("type", "object", "required", List.of("query"))));
    private static final String TEXT = " { \"name\" : \"spaced\", \"inputSchema\": {\"type\":\"object\"} } ";

    private JsonNode servers;

    @BeforeEach
    void readServers() {
        String path = System.getenv("SIDECHECK_CONFORMANCE");
        String reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance";
        if ("1".equals(System.getenv("SIDECHECK_REQUIRE_ALL"))) {
            assertTrue(path != null, reason);
        }
        assumeTrue(path != null, reason);
        servers = new JsonMapper().readTree(new File(path)).get("servers");
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "unix"})
    void registersAndValidates(String name) {
        var options = ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(60));
        try (Client client = new Client(servers.get(name).asString(), options)) {
            String server = "java-" + name;
            var registration = client.register(
                    server, List.of(new Target.ToolDefinition(TOOL), new Target.ToolDefinition(Json.text(TEXT))));
            assertEquals(
                    Registration.Action.CREATED, registration.outcomes().get(0).action());
            assertArrayEquals(
                    TEXT.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                    client.get(server, "spaced", "").json().bytes());

            var target = new Target.RegisteredTool(server, "search");
            assertTrue(client.validate(target, Json.of(Map.of("query", "a"))).valid());
            Verdict verdict = client.validate(target, Json.of(Map.of()));
            assertEquals("REQUIRED", verdict.violations().get(0).code());
            assertThrows(InvalidPayloadException.class, verdict::orThrow);
            assertFalse(verdict.callToolResult().isEmpty());

            var unknown = assertThrows(
                    SidecheckException.class,
                    () -> client.validateCall(new Target.RegisteredTool(server), Json.text("{\"name\":\"none\"}")));
            assertEquals("UNKNOWN_TOOL", unknown.reason());
            assertTrue(unknown.jsonRpcError().toString().contains("-32602"));

            var outcomes = client.validateBatch(
                    List.of(
                            new Item(new Subject.Arguments(Json.text("{"))),
                            new Item(new Subject.Arguments(TOOL), new Target.RegisteredTool(server, "none"))),
                    target,
                    null);
            assertEquals(
                    "PAYLOAD_NOT_JSON",
                    outcomes.get(0).orThrow().violations().get(0).code());
            assertThrows(SidecheckException.class, () -> outcomes.get(1).orThrow());

            var rejected = assertThrows(
                    ToolsRejectedException.class,
                    () -> client.register(server, List.of(new Target.ToolDefinition(Json.text("{}")))));
            assertEquals(1, rejected.registration().rejected().size());

            int listed = 0;
            for (Tool tool : client.list(server, "")) {
                assertEquals(server, tool.server());
                listed++;
            }
            assertEquals(2, listed);
            assertEquals(List.of("search", "spaced"), client.deleteAll(server).deleted());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = "real")
    void splitsABatchByTheLimitsAndRejectsTheItemThatIsTooLarge(String name) {
        var options = ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(60));
        try (Client client = new Client(servers.get(name).asString(), options)) {
            ServerInfo.Limits limits = client.info().limits();
            Item small = new Item(new Subject.Arguments(Json.text("{}")));
            Item large = new Item(new Subject.Arguments(Json.text(new byte[(int) limits.messageBytes()])));
            var items = new java.util.ArrayList<>(java.util.Collections.nCopies((int) limits.batchItems() + 1, small));
            items.set(1, large);
            var outcomes = client.validateBatch(items, new Target.Schema(Json.text("{\"type\":\"object\"}")), null);
            assertEquals(items.size(), outcomes.size());
            var error =
                    assertThrows(SidecheckException.class, () -> outcomes.get(1).orThrow());
            assertEquals("message_bytes", error.metadata().get("bound"));
            assertTrue(outcomes.get(items.size() - 1).orThrow().valid());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = "real")
    void checksMessages(String name) {
        var options = ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(60));
        try (Client client = new Client(servers.get(name).asString(), options)) {
            var outcomes = client.protocol()
                    .checkBatch(List.of(
                            new CheckItem.Message(
                                    Json.text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"), Sender.CLIENT),
                            new CheckItem.Message(Json.text("{\"jsonrpc\":"), Sender.CLIENT)));
            assertTrue(outcomes.get(0).orThrow().verdict().valid());
            assertFalse(outcomes.get(1).orThrow().verdict().valid());
            assertFalse(outcomes.get(1).orThrow().errorResponse().isEmpty());
        }
    }
}
