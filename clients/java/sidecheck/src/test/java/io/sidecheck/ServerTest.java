package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls to the servers that {@code tests/conformance} starts. */
class ServerTest {
    private static final Json TOOL =
            Json.of(Map.of("name", "search", "inputSchema", Map.of("type", "object", "required", List.of("query"))));
    private static final String TEXT = " { \"name\" : \"spaced\", \"inputSchema\": {\"type\":\"object\"} } ";

    @ParameterizedTest
    @ValueSource(strings = {"real", "unix"})
    void registersAndValidates(String name) {
        try (Client client = Conformance.required().client(name)) {
            String server = "java-" + name;
            var registration = client.register(
                    server, List.of(new Target.ToolDefinition(TOOL), new Target.ToolDefinition(Json.text(TEXT))));
            assertEquals(Action.CREATED, registration.outcomes().get(0).action());
            assertArrayEquals(
                    TEXT.getBytes(StandardCharsets.UTF_8),
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

    @Test
    void splitsABatchByTheLimitsAndRejectsTheItemThatIsTooLarge() {
        try (Client client = Conformance.required().client("real")) {
            Limits limits = client.info().limits();
            Item small = new Item(new Subject.Arguments(Json.text("{}")));
            Item large = new Item(new Subject.Arguments(Json.text(new byte[(int) limits.messageBytes()])));
            var items = new ArrayList<>(Collections.nCopies((int) limits.batchItems() + 1, small));
            items.set(1, large);
            var outcomes = client.validateBatch(items, new Target.Schema(Json.text("{\"type\":\"object\"}")), null);
            assertEquals(items.size(), outcomes.size());
            var error =
                    assertThrows(SidecheckException.class, () -> outcomes.get(1).orThrow());
            assertEquals("message_bytes", error.metadata().get("bound"));
            assertTrue(outcomes.get(items.size() - 1).orThrow().valid());
        }
    }

    @Test
    void checksMessages() {
        try (Client client = Conformance.required().client("real")) {
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

    /**
     * The server accepts 32 calls per connection. Further ones wait in the client, and those that
     * the server refuses nevertheless, because it has not ended earlier ones yet, are retried.
     */
    @ParameterizedTest
    @ValueSource(ints = {64, 256})
    void validatesConcurrently(int callers) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try (Client client = Conformance.required().client("real")) {
            var schema = new Target.Schema(Json.text("{\"type\":\"object\"}"));
            CyclicBarrier start = new CyclicBarrier(callers);
            List<Future<Boolean>> verdicts = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                verdicts.add(threads.submit(() -> {
                    start.await();
                    boolean valid = true;
                    for (int call = 0; call < 4; call++) {
                        valid &= client.validate(schema, Json.text("{}")).valid();
                    }
                    return valid;
                }));
            }
            for (Future<Boolean> verdict : verdicts) {
                assertTrue(verdict.get());
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
