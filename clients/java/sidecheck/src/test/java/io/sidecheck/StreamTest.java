package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.sidecheck.v1.GetServerInfoRequest;
import io.sidecheck.v1.GetServerInfoResponse;
import io.sidecheck.v1.InfoServiceGrpc;
import io.sidecheck.v1.Limits;
import io.sidecheck.v1.ValidateOutcome;
import io.sidecheck.v1.ValidateStreamRequest;
import io.sidecheck.v1.ValidateStreamResponse;
import io.sidecheck.v1.ValidationServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
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

    private final CountDownLatch cancelled = new CountDownLatch(1);
    private volatile boolean silent;
    private volatile String wrongId;
    private Server server;
    private Client client;

    @BeforeEach
    void start() throws Exception {
        server = NettyServerBuilder.forPort(0)
                .addService(new Info())
                .addService(new Echo())
                .build()
                .start();
        client = new Client("127.0.0.1:" + server.getPort());
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        server.shutdownNow().awaitTermination(60, TimeUnit.SECONDS);
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
            while (sender.getState() != Thread.State.WAITING) {
                assertTrue(sender.isAlive(), "the third item was sent without waiting");
                Thread.onSpinWait();
            }
            assertEquals("1", stream.receive().orElseThrow().id());
            assertEquals(Thread.State.TERMINATED, state.get());
            sender.join();
        }
    }

    @Test
    void cancelsTheCallWhenTheCallerLeaves() throws Exception {
        silent = true;
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("1", ITEM);
        }
        assertTrue(cancelled.await(60, TimeUnit.SECONDS));
    }

    @Test
    void listsTheItemsWithoutAnOutcomeWhenTheServerIsLost() throws Exception {
        silent = true;
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("1", ITEM);
            stream.send("2", ITEM);
            server.shutdownNow();
            var error = assertThrows(StreamUnavailableException.class, stream::receive);
            assertEquals(List.of("1", "2"), error.unanswered());
        }
    }

    @Test
    void rejectsAResponseToAnotherItem() throws Exception {
        wrongId = "other";
        try (ValidationStream stream = client.stream(TARGET, null)) {
            stream.send("1", ITEM);
            var error = assertThrows(StreamClosedException.class, stream::receive);
            assertEquals("INVALID_RESPONSE", error.reason());
            assertEquals(List.of("1"), error.unanswered());
        }
    }

    @Test
    void wakesAReceiverWhenTheClientIsClosed() throws Exception {
        silent = true;
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

    private static long clientThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("grpc-default-executor"))
                .count();
    }

    private static final class Info extends InfoServiceGrpc.InfoServiceImplBase {
        @Override
        public void getServerInfo(GetServerInfoRequest request, StreamObserver<GetServerInfoResponse> responses) {
            responses.onNext(GetServerInfoResponse.newBuilder()
                    .setLimits(Limits.newBuilder().setMessageBytes(1000).setBatchItems(10))
                    .build());
            responses.onCompleted();
        }
    }

    /** Answers each item with a valid verdict, or not at all. */
    private final class Echo extends ValidationServiceGrpc.ValidationServiceImplBase {
        @Override
        public StreamObserver<ValidateStreamRequest> validateStream(StreamObserver<ValidateStreamResponse> responses) {
            return new StreamObserver<>() {
                @Override
                public void onNext(ValidateStreamRequest request) {
                    if (silent || !request.hasItem()) {
                        return;
                    }
                    String id = wrongId == null ? request.getItem().getId() : wrongId;
                    responses.onNext(ValidateStreamResponse.newBuilder()
                            .setIdBytes(ByteString.copyFromUtf8(id))
                            .setOutcome(ValidateOutcome.newBuilder()
                                    .setVerdict(
                                            io.sidecheck.v1.Verdict.newBuilder().setValid(true)))
                            .build());
                }

                @Override
                public void onError(Throwable error) {
                    cancelled.countDown();
                }

                @Override
                public void onCompleted() {
                    responses.onCompleted();
                }
            };
        }
    }
}
