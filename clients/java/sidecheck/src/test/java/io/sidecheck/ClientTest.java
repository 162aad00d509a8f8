package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client does without a server that answers. */
class ClientTest {
    private static final Target TARGET = new Target.RegisteredTool("bench", "git_log");
    private static final Json ARGUMENTS = Json.text("{}");

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "localhost:0", "localhost:65536", "http://a:1", "unix:", "unix:///", ""})
    void rejectsAnAddressOfAnotherForm(String address) {
        var error = assertThrows(IllegalArgumentException.class, () -> new Client(address));
        assertTrue(error.getMessage().contains("expected host:port"), error.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost:1", "[::1]:1", "dns:///[::1]:1", "dns:///localhost:1", "unix:/a", "unix:a"})
    void takesEachFormOfAnAddress(String address) {
        new Client(address).close();
    }

    @Test
    void rejectsValuesThatJsonCannotExpress() {
        for (Object value : List.of(Double.NaN, new float[] {Float.POSITIVE_INFINITY}, new Object())) {
            assertThrows(IllegalArgumentException.class, () -> Json.of(List.of(value)));
        }
        assertEquals(Json.text("{}"), Json.of(Map.of()));
    }

    @Test
    void rejectsATimeoutThatIsNotPositive() {
        assertThrows(IllegalArgumentException.class, () -> ClientOptions.DEFAULTS.withTimeout(Duration.ZERO));
        try (Client client = new Client("localhost:1")) {
            assertThrows(IllegalArgumentException.class, () -> client.withTimeout(Duration.ZERO));
        }
    }

    @Test
    void reportsAServerThatDoesNotListenAsUnavailable() throws IOException {
        try (Client client = new Client("127.0.0.1:" + unusedPort())) {
            var error = assertThrows(UnavailableException.class, () -> client.validate(TARGET, ARGUMENTS));
            assertEquals(error.status(), error.reason());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void returnsTheVerdictOfThePolicy(boolean allowed) throws IOException {
        var policy = allowed ? OnUnavailable.ALLOW : OnUnavailable.DENY;
        var options = ClientOptions.DEFAULTS.withOnUnavailable(policy);
        try (Client client = new Client("127.0.0.1:" + unusedPort(), options)) {
            Verdict verdict = client.validate(TARGET, ARGUMENTS);
            assertEquals(allowed, verdict.valid());
            assertEquals("SIDECHECK_UNAVAILABLE", verdict.violations().get(0).code());
            assertEquals(allowed, verdict.toolErrorText().isEmpty());
            var outcomes =
                    client.validateBatch(List.of(new Item(new Subject.Arguments(ARGUMENTS), TARGET)), null, null);
            assertEquals(allowed, outcomes.get(0).orThrow().valid());
            assertThrows(UnavailableException.class, client::info);
        }
    }

    @Test
    void reportsAServerThatDoesNotAnswerAtTheDeadline() throws IOException {
        try (ServerSocket silent = new ServerSocket(0);
                Client client = new Client("127.0.0.1:" + silent.getLocalPort())) {
            var error = assertThrows(
                    UnavailableException.class,
                    () -> client.withTimeout(Duration.ofMillis(50)).validate(TARGET, ARGUMENTS));
            assertEquals("DEADLINE_EXCEEDED", error.reason());
        }
    }

    @Test
    void cancelsTheCallOfAnInterruptedThread() throws IOException {
        try (ServerSocket silent = new ServerSocket(0);
                Client client = new Client("127.0.0.1:" + silent.getLocalPort())) {
            Thread.currentThread().interrupt();
            assertThrows(
                    CancellationException.class,
                    () -> client.withTimeout(Duration.ofMinutes(5)).validate(TARGET, ARGUMENTS));
            assertTrue(Thread.interrupted());
        }
    }

    @Test
    void reportsAClosedClient() {
        Client client = new Client("127.0.0.1:1");
        client.close();
        var error = assertThrows(SidecheckException.class, () -> client.validate(TARGET, ARGUMENTS));
        assertEquals("CLIENT_CLOSED", error.reason());
        assertEquals("CANCELLED", error.status());
        assertFalse(error instanceof UnavailableException);
    }

    @Test
    void sendsNothingForAnEmptyBatch() {
        try (Client client = new Client("127.0.0.1:1")) {
            assertEquals(List.of(), client.validateBatch(List.of(), TARGET, null));
        }
    }

    @Test
    void encodesValuesAndKeepsTexts() {
        assertEquals(
                "{\"a\":[1,null]}",
                Json.of(java.util.Collections.singletonMap("a", java.util.Arrays.asList(1, null)))
                        .toString());
        assertEquals("{ }", Json.of(Json.text("{ }")).toString());
        for (Object value : List.of(
                Double.NaN,
                Float.NEGATIVE_INFINITY,
                java.util.Map.of("a", List.of(Double.POSITIVE_INFINITY)),
                new double[] {1, Double.NaN},
                new float[] {Float.NaN})) {
            assertThrows(IllegalArgumentException.class, () -> Json.of(value));
        }
        assertEquals("[1.5]", Json.of(new double[] {1.5}).toString());
        assertInstanceOf(java.util.Map.class, Json.text("{}").as(Object.class));
    }

    private static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
