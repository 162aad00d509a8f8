package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Comparisons and revisions of the registry, with the server that {@code tests/conformance} starts. */
class ComparisonTest {
    private static final RegistrationOptions REJECT_BREAKING =
            RegistrationOptions.DEFAULTS.withCompatibility(RegistrationOptions.Compatibility.REJECT_BREAKING);

    @Test
    void showsWhatBreaksCallers() {
        String server = "java-comparison";
        try (Client client = Conformance.required().client("real")) {
            var registered = client.register(server, List.of(tool(9)));
            client.setMinRevision(registered.registryRevision());

            var comparison = client.compare(
                    new ToolSet.ServerTools(server),
                    new ToolSet.Definitions(List.of(tool(5))),
                    SchemaReading.AS_WRITTEN);
            assertEquals(ChangeLevel.BREAKING, comparison.level());
            ToolComparison compared = comparison.tools().get(0);
            assertEquals(ToolStatus.CHANGED, compared.status());
            assertEquals("MAXIMUM_LOWERED", compared.changes().get(0).code());
            var witness = compared.schemas().get(0).asWritten().witness().orElseThrow();
            assertFalse(witness.payload().isEmpty());

            var rejected = assertThrows(
                    ToolsRejectedException.class, () -> client.register(server, List.of(tool(5)), REJECT_BREAKING));
            var outcome = rejected.registration().rejected().get(0);
            assertEquals(
                    ChangeLevel.BREAKING, outcome.comparison().orElseThrow().assumeClosed());

            var kept = client.register(server, List.of(), REJECT_BREAKING.withReplace(true));
            assertEquals(List.of("f"), kept.kept());
            assertTrue(kept.removed().isEmpty());
            client.deleteAll(server);
        }
    }

    /** The calls wait for the revision, so they are made at the same time. */
    @Test
    void sendsTheLeastRevisionWithAllRequestsThatReadTheRegistry() throws Exception {
        var schema = new Target.Schema(Json.text("{}"));
        var item = new Item(new Subject.Arguments(Json.text("{}")), schema);
        var result = new CheckItem.ToolResult(Json.text("{}"), ResultProfile.SPECIFICATION, null);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Client client = Conformance.required().client("real")) {
            client.setMinRevision(Long.MAX_VALUE);
            assertEquals(Long.MAX_VALUE, client.minRevision());
            var conversion = client.conversion();
            List<Callable<?>> calls = List.of(
                    () -> client.validate(item),
                    () -> client.validateBatch(List.of(item), null, null),
                    () -> client.stream(schema, null).receive(),
                    () -> client.get("java", "f", ""),
                    () -> client.list("java", "").iterator().hasNext(),
                    () -> client.compare(
                            new ToolSet.ServerTools("java"),
                            new ToolSet.Definitions(List.of()),
                            SchemaReading.AS_WRITTEN),
                    () -> client.protocol().checkToolResult(result.result()),
                    () -> client.protocol().checkBatch(List.of(result)),
                    () -> client.protocol()
                            .normalizeToolResult(
                                    new ReturnValue.Value(Json.text("1")), null, ResultProfile.SPECIFICATION),
                    () -> conversion.convertTools(
                            ModelApi.OPENAI_CHAT, List.of(), List.of("java"), ConversionOptions.DEFAULTS),
                    () -> conversion.convertToolCall(Json.text("{}"), List.of(), null, null),
                    () -> conversion.convertToolResult(
                            ModelApi.OPENAI_CHAT, result, "1", "f", ProtocolContext.UNKNOWN, CheckOptions.DEFAULTS),
                    () -> client.inference().adaptTool(new Target.RegisteredTool("java", "f"), ""));
            List<Future<?>> outcomes = new ArrayList<>();
            for (Callable<?> call : calls) {
                outcomes.add(threads.submit(call));
            }
            for (int index = 0; index < calls.size(); index++) {
                Future<?> outcome = outcomes.get(index);
                var failed = assertThrows(ExecutionException.class, outcome::get, "call " + index);
                var error = assertInstanceOf(SidecheckException.class, failed.getCause());
                assertEquals("REVISION_NOT_REACHED", error.reason(), "call " + index);
            }
            client.setMinRevision(0);
            assertTrue(client.validate(item).valid());
        } finally {
            threads.shutdownNow();
        }
    }

    private static Target.ToolDefinition tool(int maximum) {
        return new Target.ToolDefinition(Json.of(Map.of(
                "name",
                "f",
                "inputSchema",
                Map.of("type", "object", "properties", Map.of("n", Map.of("type", "integer", "maximum", maximum))))));
    }
}
