package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions; what they find is in the shared cases. */
@Timeout(300)
class SessionTest {
    private static final Json PING = Json.text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");

    private static ProtocolClient checks(Client client) {
        return client.protocol().withContext(new ProtocolContext("2025-11-25", null, null));
    }

    @Test
    void checksEachMessageWithTheEarlierOnes() {
        try (Client client = Conformance.required().client("real");
                Session session = checks(client).session(new SessionOptions(false, 1))) {
            assertTrue(session.check(PING, Sender.CLIENT).verdict().valid());
            Verdict repeated = session.check(PING, Sender.CLIENT).verdict();
            assertFalse(repeated.valid());
            assertEquals(List.of(), session.finish().repeatedViolations());
            assertEquals(List.of(), session.finish().repeatedViolations());
            assertThrows(IllegalStateException.class, () -> session.check(PING, Sender.CLIENT));
        }
    }

    @Test
    void leavesOutARequestThatHttpRejected() {
        try (Client client = Conformance.required().client("real");
                Session session = checks(client).session(new SessionOptions(false, 1))) {
            assertTrue(session.check(PING, Sender.CLIENT, 503).verdict().valid());
            assertTrue(session.check(PING, Sender.CLIENT).verdict().valid());
            assertThrows(IllegalArgumentException.class, () -> session.check(PING, Sender.CLIENT, -1));
        }
    }

    @Test
    void isSharedByThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(16);
        try (Client client = Conformance.required().client("real");
                Session session = client.protocol().session(new SessionOptions(false, 4))) {
            List<Future<CheckResult>> results = IntStream.range(0, 200)
                    .mapToObj(id -> threads.submit(() -> session.check(
                            Json.text("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"ping\"}"), Sender.CLIENT)))
                    .toList();
            for (Future<CheckResult> result : results) {
                assertTrue(result.get().verdict().valid());
            }
            session.finish();
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void continuesWithoutAnInterruptedThread() throws Exception {
        try (FakeServer server = new FakeServer();
                Client client = new Client(server.address());
                Session session = client.protocol().session()) {
            server.silent = true;
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread caller = new Thread(() -> {
                try {
                    session.check(PING, Sender.CLIENT);
                    interrupted.complete(false);
                } catch (CancellationException cancelled) {
                    interrupted.complete(Thread.currentThread().isInterrupted());
                }
            });
            caller.start();
            StreamTest.awaitWaiting(caller);
            caller.interrupt();
            assertTrue(interrupted.get());
            CompletableFuture<SidecheckException> other = new CompletableFuture<>();
            Thread otherCaller = new Thread(() -> other.complete(
                    assertThrows(StreamUnavailableException.class, () -> session.check(PING, Sender.CLIENT))));
            otherCaller.start();
            StreamTest.awaitWaiting(otherCaller);
            server.kill();
            // Whether the first message left before its thread was interrupted is open.
            List<String> unanswered = ((StreamClosedException) other.get()).unanswered();
            assertTrue(List.of(List.of("2"), List.of("1", "2")).contains(unanswered), unanswered::toString);
        }
    }

    @Test
    void tellsAllThreadsThatTheServerIsLost() throws Exception {
        try (FakeServer server = new FakeServer();
                Client client = new Client(server.address());
                Session session = client.protocol().session()) {
            server.silent = true;
            List<CompletableFuture<List<String>>> errors = new ArrayList<>();
            for (int index = 0; index < 4; index++) {
                CompletableFuture<List<String>> unanswered = new CompletableFuture<>();
                Thread caller = new Thread(() -> unanswered.complete(
                        assertThrows(StreamUnavailableException.class, () -> session.check(PING, Sender.CLIENT))
                                .unanswered()));
                caller.start();
                StreamTest.awaitWaiting(caller);
                errors.add(unanswered);
            }
            server.kill();
            for (CompletableFuture<List<String>> unanswered : errors) {
                assertEquals(List.of("1", "2", "3", "4"), unanswered.get());
            }
            assertThrows(StreamUnavailableException.class, session::finish);
        }
    }

    @Test
    void rejectsAnEndWithoutASummary() throws Exception {
        try (FakeServer server = new FakeServer();
                Client client = new Client(server.address());
                Session session = client.protocol().session()) {
            assertTrue(session.check(PING, Sender.CLIENT).verdict().valid());
            assertThrows(InvalidResponseException.class, session::finish);
        }
    }

    @Test
    void reportsAMessageThatIsTooLargeAndContinues() throws Exception {
        try (FakeServer server = new FakeServer();
                Client client = new Client(server.address());
                Session session = client.protocol().session()) {
            Json large = Json.text(new byte[2000]);
            var error = assertThrows(SidecheckException.class, () -> session.check(large, Sender.SERVER));
            assertEquals("LIMIT_EXCEEDED", error.reason());
            assertTrue(session.check(PING, Sender.CLIENT).verdict().valid());
        }
    }
}
