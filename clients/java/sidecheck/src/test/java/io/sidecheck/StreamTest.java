package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams to a server of this process, which the tests control. */
@Timeout(120)
class StreamTest {
    private static final Item ITEM = new Item(new Subject.Arguments(Json.text("{}")));
    private static final Target TARGET = new Target.Schema(Json.text("true"));

    private FakeServer server;
    private Client client;

    @BeforeEach
    void start() throws Exception {
        server = new FakeServer();
        client = new Client(server.address());
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    @Test
    void returnsTheOutcomesInOrder() throws Exception {
        try (ValidationStream stream = client.stream(TARGET, null)) {
            for (String id : List.of("a", "b", "a")) {
                stream.send(id, ITEM);
            }
            stream.finish();
            assertEquals(
                    List.of("a", "b", "a"),
                    stream.stream().map(StreamOutcome::id).toList());
            assertThrows(IllegalStateException.class, () -> stream.send("c", ITEM));
        }
    }

    @Test
    void replacesTheOutcomeOfAnItemThatIsTooLarge() throws Exception {
        Item large = new Item(new Subject.Arguments(Json.text(new byte[2000])));
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("large", large);
            stream.send("small", ITEM);
            stream.finish();
            List<StreamOutcome> outcomes = new ArrayList<>();
            stream.forEach(outcomes::add);
            var error = assertThrows(
                    SidecheckException.class, () -> outcomes.get(0).outcome().orThrow());
            assertEquals("LIMIT_EXCEEDED", error.reason());
            assertTrue(outcomes.get(1).outcome().orThrow().valid());
        }
    }

    @Test
    void replacesTheOutcomeOfAnItemThatCannotBeEncoded() throws Exception {
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("broken", new Item(new Subject.Arguments(null)));
            stream.send("whole", ITEM);
            stream.finish();
            List<StreamOutcome> outcomes = new ArrayList<>();
            stream.forEach(outcomes::add);
            var error = assertThrows(
                    SidecheckException.class, () -> outcomes.get(0).outcome().orThrow());
            assertEquals("INVALID_REQUEST", error.reason());
            assertTrue(outcomes.get(1).outcome().orThrow().valid());
        }
    }

    @Test
    void holdsASenderBackUntilAnOutcomeIsReceived() throws Exception {
        try (ValidationStream stream = client.stream(TARGET, null, 2)) {
            stream.send("1", ITEM);
            stream.send("2", ITEM);
            CompletableFuture<Thread.State> state = new CompletableFuture<>();
            Thread sender = new Thread(() -> {
                try {
                    stream.send("3", ITEM);
                    state.complete(Thread.State.TERMINATED);
                } catch (InterruptedException interrupt) {
                    state.completeExceptionally(interrupt);
                }
            });
            sender.start();
            awaitWaiting(sender);
            assertEquals("1", stream.receive().orElseThrow().id());
            assertEquals(Thread.State.TERMINATED, state.get());
            sender.join();
        }
    }

    @Test
    void cancelsTheCallWhenTheCallerLeaves() throws Exception {
        server.silent = true;
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("1", ITEM);
        }
        assertTrue(server.cancelled.await(60, TimeUnit.SECONDS));
    }

    @Test
    void listsTheItemsWithoutAnOutcomeWhenTheServerIsLost() throws Exception {
        server.silent = true;
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("1", ITEM);
            stream.send("2", ITEM);
            server.kill();
            var error = assertThrows(StreamUnavailableException.class, stream::receive);
            assertEquals(List.of("1", "2"), error.unanswered());
        }
    }

    @Test
    void listsTheItemsThatWaitToBeSentWhenTheServerIsLost() throws Exception {
        server.silent = true;
        try (ValidationStream stream = client.stream(TARGET, null, 1)) {
            stream.send("1", ITEM);
            List<CompletableFuture<List<String>>> senders = new ArrayList<>();
            for (String id : List.of("2", "3")) {
                CompletableFuture<List<String>> unanswered = new CompletableFuture<>();
                Thread sender = new Thread(() ->
                        unanswered.complete(assertThrows(StreamUnavailableException.class, () -> stream.send(id, ITEM))
                                .unanswered()));
                sender.start();
                awaitWaiting(sender);
                senders.add(unanswered);
            }
            server.kill();
            List<String> all = List.of("1", "2", "3");
            for (CompletableFuture<List<String>> unanswered : senders) {
                assertEquals(all, unanswered.get());
            }
            assertEquals(
                    all,
                    assertThrows(StreamUnavailableException.class, stream::receive)
                            .unanswered());
        }
    }

    @Test
    void forgetsAnItemWhoseThreadIsInterruptedAndSendsThoseBehindIt() throws Exception {
        try (ValidationStream stream = client.stream(TARGET, null, 1)) {
            stream.send("1", ITEM);
            Thread interrupted =
                    new Thread(() -> assertThrows(InterruptedException.class, () -> stream.send("2", ITEM)));
            interrupted.start();
            awaitWaiting(interrupted);
            CompletableFuture<Void> sent = new CompletableFuture<>();
            Thread sender = new Thread(() -> {
                try {
                    stream.send("3", ITEM);
                    sent.complete(null);
                } catch (InterruptedException interrupt) {
                    sent.completeExceptionally(interrupt);
                }
            });
            sender.start();
            awaitWaiting(sender);
            interrupted.interrupt();
            interrupted.join();
            stream.finish();
            assertEquals(
                    List.of("1", "3"), stream.stream().map(StreamOutcome::id).toList());
            sent.get();
        }
    }

    @Test
    void rejectsAResponseToAnotherItem() throws Exception {
        server.wrongId = "other";
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("1", ITEM);
            var error = assertThrows(StreamClosedException.class, stream::receive);
            assertEquals("INVALID_RESPONSE", error.reason());
            assertEquals(List.of("1"), error.unanswered());
        }
    }

    @Test
    void wakesAReceiverWhenTheClientIsClosed() throws Exception {
        server.silent = true;
        try (ValidationStream stream = client.stream(TARGET, null)) {
            client.close();
            var error = assertThrows(StreamClosedException.class, stream::receive);
            assertEquals("CLIENT_CLOSED", error.reason());
        }
    }

    @Test
    void startsNoThreadPerStream() throws Exception {
        try (ValidationStream first = client.stream(TARGET, null)) {
            first.send("1", ITEM);
            first.receive();
        }
        long before = clientThreads();
        List<ValidationStream> streams = new ArrayList<>();
        for (int index = 0; index < 50; index++) {
            ValidationStream stream = client.stream(TARGET, null);
            stream.send("1", ITEM);
            stream.receive();
            streams.add(stream);
        }
        // The transport has an event loop for each processor at most.
        assertTrue(clientThreads() - before <= 2L * Runtime.getRuntime().availableProcessors());
        streams.forEach(ValidationStream::close);
    }

    /** Waits until a thread waits for a change of its stream or session, and not for a lock of it. */
    static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING || isBusy(thread)) {
            assertTrue(thread.isAlive(), "the thread did not wait");
            Thread.onSpinWait();
        }
    }

    private static boolean isBusy(Thread thread) {
        List<StackTraceElement> frames = List.of(thread.getStackTrace());
        return frames.stream().anyMatch(frame -> frame.getClassName().equals(ItemStream.class.getName()))
                && frames.stream().noneMatch(frame -> frame.getMethodName().equals("await"));
    }

    private static long clientThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("grpc-default-executor"))
                .count();
    }
}
