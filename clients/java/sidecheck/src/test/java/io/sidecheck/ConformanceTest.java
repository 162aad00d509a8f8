package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The cases that all clients share. */
class ConformanceTest {
    private static final int SHOWN = 10;

    private final List<Map<String, Object>> results = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    @Test
    void passesTheSharedCases() throws Exception {
        Conformance conformance = Conformance.required();
        List<JsonNode> cases = Files.readAllLines(conformance.path("cases")).stream()
                .map(ConformanceTest::nameRemedies)
                .map(Conformance.MAPPER::readTree)
                .toList();
        int start = 0;
        for (int end = 1; end <= cases.size(); end++) {
            if (end == cases.size() || !alike(cases.get(start), cases.get(end))) {
                run(conformance, cases.subList(start, end));
                start = end;
            }
        }
        Files.write(
                conformance.path("results"),
                results.stream().map(Conformance.MAPPER::writeValueAsString).toList());
        failures.stream().limit(SHOWN).forEach(System.out::println);
        assertEquals(0, failures.size(), "failed of " + cases.size() + " cases");
    }

    /** Puts what a user of this client does in place of the placeholders of the cases. */
    private static String nameRemedies(String line) {
        return line.replace("{set TLS}", "set tls")
                .replace("{leave out TLS}", "leave out tls")
                .replace("{set the authorities}", "set certificateAuthorities of tls")
                .replace("{set the name}", "set serverName of tls");
    }

    private static boolean alike(JsonNode first, JsonNode second) {
        return first.get("server").equals(second.get("server"))
                && first.get("client").equals(second.get("client"));
    }

    private void run(Conformance conformance, List<JsonNode> cases) throws Exception {
        JsonNode first = cases.get(0);
        JsonNode fields = first.get("client");
        ClientOptions options = ClientOptions.DEFAULTS
                .withTimeout(Duration.ofMillis((long) (fields.get("timeout").asDouble() * 1000)))
                .withOnUnavailable(OnUnavailable.valueOf(
                        fields.get("on_unavailable").asString().toUpperCase(Locale.ROOT)))
                .withProtocolVersion(fields.get("protocol_version").asString())
                .withTls(
                        fields.get("tls").asBoolean()
                                ? conformance.tls(fields.get("tls_fault").asString())
                                : null);
        String address = conformance.address(first.get("server").asString());
        ExecutorService executor = first.get("concurrent").asBoolean()
                ? Executors.newFixedThreadPool(64)
                : Executors.newSingleThreadExecutor();
        try (Client client = new Client(address, options)) {
            ConformanceCalls calls = new ConformanceCalls(client);
            List<Future<Object>> actual = new ArrayList<>();
            for (JsonNode testCase : cases) {
                actual.add(executor.submit(() -> call(calls, testCase)));
            }
            for (int index = 0; index < cases.size(); index++) {
                record(cases.get(index), actual.get(index).get());
            }
        } finally {
            executor.shutdown();
        }
    }

    private static Object call(ConformanceCalls calls, JsonNode testCase) throws InterruptedException {
        try {
            Object result = calls.result(testCase);
            return result == null ? null : ConformanceResults.render(result);
        } catch (SidecheckException error) {
            return ConformanceResults.render(error);
        } catch (InvalidPayloadException error) {
            return Map.of("error", Map.of("kind", "invalid_payload", "text", error.getMessage()));
        } catch (IllegalArgumentException error) {
            return Map.of("error", Map.of("kind", "invalid_argument", "message", error.getMessage()));
        }
    }

    private void record(JsonNode testCase, Object rendered) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("id", testCase.get("id").asString());
        if (rendered == null) {
            result.put(
                    "skipped",
                    "the client has no method for " + testCase.get("call").asString());
        } else {
            // Read back, so that numbers compare by their text.
            JsonNode actual = Conformance.MAPPER.readTree(Conformance.MAPPER.writeValueAsString(rendered));
            boolean passed = ConformanceResults.isExpected(testCase.get("want"), actual);
            result.put("passed", passed);
            if (!passed) {
                result.put("actual", actual);
                failures.add(String.join(
                        "\n  ",
                        testCase.get("id").asString(),
                        testCase.get("want").toString(),
                        actual.toString()));
            }
        }
        results.add(result);
    }
}
