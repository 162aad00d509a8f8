package io.sidecheck;

import static io.sidecheck.ScriptedRegistry.end;
import static io.sidecheck.ScriptedRegistry.fail;
import static io.sidecheck.ScriptedRegistry.failFor;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.Status;
import io.sidecheck.ScriptedRegistry.Step;
import io.sidecheck.v1.RevisionCheckpoint;
import io.sidecheck.v1.WatchToolsRequest;
import io.sidecheck.v1.WatchToolsResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Watches of a scripted server: their events, what ends them, and what loses their server. */
@Timeout(300)
class WatchTest {
    private static final WatchOptions PATIENT = WatchOptions.DEFAULTS.withPatience(Duration.ofHours(2));

    @Test
    void goesOnWhereItWas() throws Exception {
        try (var registry = new ScriptedRegistry(
                        0,
                        List.of(
                                List.of(checkpoint(3), change(4, "a"), part(5, "b"), fail(Status.Code.UNAVAILABLE)),
                                List.of(fail(Status.Code.INTERNAL)),
                                List.of(fail(Status.Code.UNAVAILABLE)),
                                List.of(part(5, "b"), change(5, "c"), end()),
                                List.of(checkpoint(5), checkpoint(6))));
                Client client = registry.client();
                Watch watch = client.watch(List.of("s"), PATIENT)) {
            assertEquals(
                    List.of(
                            new Checkpoint(3, "id 3"),
                            new ToolsChange(4, "id 4", "s", List.of(tool("a")), List.of("gone")),
                            new ToolsChange(5, "id 5", "s", List.of(tool("b"), tool("c")), List.of("gone")),
                            new Checkpoint(5, "id 5")),
                    take(watch, 4));
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, watch::receive);
            Thread.currentThread().interrupt();
            assertThrows(CancellationException.class, watch.iterator()::hasNext);
            assertTrue(Thread.interrupted());
            assertEquals(List.of(new Checkpoint(6, "id 6")), take(watch, 1));
            assertEquals(
                    List.of(
                            WatchToolsRequest.newBuilder().addServers("s").build(),
                            after(4),
                            after(4),
                            after(4),
                            after(5)),
                    registry.requests);
        }
    }

    @Test
    void goesOnWithTheNextServer() throws Exception {
        var first = new ScriptedRegistry(0, List.of(List.of()));
        int port = first.port();
        WatchOptions options = PATIENT.withAfter(new Checkpoint(7, "id 7"));
        try (Client client = first.client();
                Watch watch = client.watch(List.of("s"), options)) {
            Receiver receiver = Receiver.start(watch::receive);
            try (first) {
                receiver.awaitState(Thread.State.WAITING);
            }
            receiver.awaitState(Thread.State.TIMED_WAITING);
            try (var second = new ScriptedRegistry(port, List.of(List.of(checkpoint(8))))) {
                assertEquals(
                        Optional.of(new Checkpoint(8, "id 8")),
                        receiver.result().get());
                assertEquals(List.of(after(7)), second.requests);
            }
        }
    }

    static Stream<Arguments> lastingErrors() {
        return Stream.of(
                Arguments.of(fail(Status.Code.OUT_OF_RANGE), SidecheckException.class, "OUT_OF_RANGE"),
                Arguments.of(fail(Status.Code.PERMISSION_DENIED), UnavailableException.class, "PERMISSION_DENIED"),
                Arguments.of(fail(Status.Code.UNAUTHENTICATED), UnavailableException.class, "UNAUTHENTICATED"),
                Arguments.of(fail(Status.Code.UNIMPLEMENTED), UnavailableException.class, "UNIMPLEMENTED"),
                Arguments.of(
                        ScriptedRegistry.respond(WatchToolsResponse.getDefaultInstance()),
                        InvalidResponseException.class,
                        "INVALID_RESPONSE"));
    }

    @ParameterizedTest
    @MethodSource("lastingErrors")
    void endsAtErrorsThatWouldComeAgain(Step step, Class<?> type, String reason) throws Exception {
        try (var registry = new ScriptedRegistry(0, List.of(List.of(step)));
                Client client = registry.client();
                Watch watch = client.watch(List.of(), PATIENT)) {
            var error = assertThrows(SidecheckException.class, watch::receive);
            assertEquals(type, error.getClass());
            assertEquals(reason, error.reason());
            assertSame(error, assertThrows(SidecheckException.class, watch.iterator()::next));
            assertEquals(List.of(WatchToolsRequest.getDefaultInstance()), registry.requests);
        }
    }

    @Test
    void endsIfTheServerAsksForMorePatience() throws Exception {
        try (var registry = new ScriptedRegistry(0, List.of(List.of(failFor(3600))));
                Client client = registry.client();
                Watch watch = client.watch(List.of(), WatchOptions.DEFAULTS)) {
            var error = assertThrows(UnavailableException.class, watch::receive);
            assertEquals(Optional.of(Duration.ofHours(1)), error.retryAfter());
        }
    }

    @Test
    void endsIfNoServerIsFoundAgain() {
        try (Client client = new Client("127.0.0.1:1");
                Watch watch = client.watch(List.of(), WatchOptions.DEFAULTS.withPatience(Duration.ofMillis(200)))) {
            assertThrows(UnavailableException.class, watch::receive);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S"})
    void needsPatience(Duration patience) {
        var error = assertThrows(IllegalArgumentException.class, () -> WatchOptions.DEFAULTS.withPatience(patience));
        assertEquals("patience must be positive, not " + patience, error.getMessage());
    }

    /** A thread that waits for an event, or until it may connect again. */
    static Stream<Arguments> waits() {
        return Stream.of(
                Arguments.of(List.of(), Thread.State.WAITING),
                Arguments.of(List.of(failFor(3600)), Thread.State.TIMED_WAITING));
    }

    @ParameterizedTest
    @MethodSource("waits")
    void endsWhenItIsClosed(List<Step> steps, Thread.State state) throws Exception {
        try (var registry = new ScriptedRegistry(0, List.of(steps));
                Client client = registry.client()) {
            Watch watch = client.watch(List.of(), PATIENT);
            Receiver receiver = Receiver.start(watch::receive);
            receiver.awaitState(state);
            watch.close();
            assertEquals(Optional.empty(), receiver.result().get());
            assertFalse(watch.iterator().hasNext());
            assertTrue(registry.requests.size() <= 1);
        }
    }

    @ParameterizedTest
    @MethodSource("waits")
    void endsWhenTheClientIsClosed(List<Step> steps, Thread.State state) throws Exception {
        try (var registry = new ScriptedRegistry(0, List.of(steps))) {
            Client client = registry.client();
            Watch watch = client.watch(List.of(), PATIENT);
            Receiver receiver = Receiver.start(watch::receive);
            receiver.awaitState(state);
            client.close();
            var failed = assertThrows(ExecutionException.class, receiver.result()::get);
            assertEquals("CLIENT_CLOSED", ((SidecheckException) failed.getCause()).reason());
            var next = client.watch(List.of(), PATIENT);
            assertEquals(
                    "CLIENT_CLOSED",
                    assertThrows(SidecheckException.class, next::receive).reason());
        }
    }

    @Test
    void endsWhenTheContextIsCancelled() throws Exception {
        try (var registry = new ScriptedRegistry(0, List.of(List.of()));
                Client client = registry.client();
                Watch watch = client.watch(List.of(), PATIENT);
                Context.CancellableContext context = Context.current().withCancellation()) {
            Receiver receiver = Receiver.start(context.wrap((Callable<Optional<WatchEvent>>) watch::receive));
            receiver.awaitState(Thread.State.WAITING);
            context.cancel(null);
            var failed = assertThrows(ExecutionException.class, receiver.result()::get);
            assertEquals(CancellationException.class, failed.getCause().getClass());
        }
    }

    /** A thread that receives one event. */
    private record Receiver(Thread thread, FutureTask<Optional<WatchEvent>> result) {
        static Receiver start(Callable<Optional<WatchEvent>> receive) {
            var result = new FutureTask<>(receive);
            var thread = new Thread(result);
            thread.start();
            return new Receiver(thread, result);
        }

        void awaitState(Thread.State state) {
            while (thread.getState() != state) {
                assertTrue(thread.isAlive(), "it received");
                Thread.onSpinWait();
            }
        }
    }

    private static List<WatchEvent> take(Watch watch, int count) {
        List<WatchEvent> events = new ArrayList<>();
        for (Iterator<WatchEvent> all = watch.iterator(); events.size() < count; ) {
            events.add(all.next());
        }
        return events;
    }

    private static WatchToolsRequest after(long revision) {
        return WatchToolsRequest.newBuilder()
                .addServers("s")
                .setAfterRevision(revision)
                .setAfterId("id " + revision)
                .build();
    }

    private static Step checkpoint(long revision) {
        var message = RevisionCheckpoint.newBuilder().setRevision(revision).setId("id " + revision);
        return ScriptedRegistry.respond(
                WatchToolsResponse.newBuilder().setCheckpoint(message).build());
    }

    /** The registration of a tool, and the deletion of another. */
    private static Step change(long revision, String name) {
        return change(message(revision, name).addDeleted("gone"));
    }

    /** The same, of which more follows. */
    private static Step part(long revision, String name) {
        return change(message(revision, name).setContinued(true));
    }

    private static Step change(io.sidecheck.v1.ToolsChange.Builder message) {
        return ScriptedRegistry.respond(
                WatchToolsResponse.newBuilder().setChange(message).build());
    }

    private static io.sidecheck.v1.ToolsChange.Builder message(long revision, String name) {
        return io.sidecheck.v1.ToolsChange.newBuilder()
                .setRevision(revision)
                .setId("id " + revision)
                .setServer("s")
                .addRegistered(io.sidecheck.v1.Tool.newBuilder()
                        .setServer("s")
                        .setName(name)
                        .setJson(ByteString.copyFromUtf8("{}")));
    }

    private static Tool tool(String name) {
        return new Tool("s", name, Json.text("{}"), List.of(), "", "", "", 0, "");
    }
}
