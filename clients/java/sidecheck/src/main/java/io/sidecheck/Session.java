package io.sidecheck;

import io.grpc.MethodDescriptor;
import io.sidecheck.v1.CheckSessionRequest;
import io.sidecheck.v1.CheckSessionResponse;
import io.sidecheck.v1.ProtocolMessage;
import io.sidecheck.v1.ProtocolServiceGrpc;
import io.sidecheck.v1.SessionItem;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One MCP session, with the messages of both sides: {@link ProtocolClient#session()}.
 *
 * <p>Messages are checked in the order of the calls of {@link #check}, also against the rules that
 * depend on earlier messages. Threads may share a session. One that is interrupted gets {@link
 * java.util.concurrent.CancellationException} and stays interrupted; that does not affect the
 * others. What is true of many messages, such as that logging is deprecated, is in the verdict on
 * the first of them; {@link #finish} counts the others. A session is not retried, and the client's
 * {@link OnUnavailable} does not apply. Closing it cancels what is pending; do so with
 * try-with-resources.
 */
public final class Session implements AutoCloseable {
    private final ItemStream<Message, CheckSessionRequest, CheckSessionResponse, CheckResult> items;
    private final AtomicLong ids = new AtomicLong();

    /** The messages for whose outcomes threads wait, by id. */
    private final Map<String, CompletableFuture<Outcome<CheckResult>>> awaited = new ConcurrentHashMap<>();

    /** The thread that receives does so for all others. */
    private final ReentrantLock receiving = new ReentrantLock();

    Session(Connection connection, CheckSessionRequest opening, int outstanding, Duration timeout) {
        items = new ItemStream<>(connection, Kind.INSTANCE, opening, outstanding, timeout);
    }

    /**
     * Checks the next message of the session.
     *
     * @param message JSON-RPC message
     * @param sender its sender; without it, requests of the two sides cannot be told apart
     * @return the result
     * @throws StreamClosedException if the session has ended
     * @throws SidecheckException if this message could not be checked; the session continues
     * @throws IllegalStateException if the session is finished
     */
    public CheckResult check(Json message, Sender sender) {
        return check(message, sender, 0);
    }

    /**
     * Checks the next message of the session, which was sent over HTTP.
     *
     * @param message JSON-RPC message
     * @param sender its sender; without it, requests of the two sides cannot be told apart
     * @param httpStatus status of the HTTP response to it, 0 for none; a message of the client that
     *     was rejected (400 or more) takes no part in the session
     * @return the result
     * @throws StreamClosedException if the session has ended
     * @throws SidecheckException if this message could not be checked; the session continues
     * @throws IllegalArgumentException if the status is negative
     * @throws IllegalStateException if the session is finished
     */
    public CheckResult check(Json message, Sender sender, int httpStatus) {
        if (httpStatus < 0) {
            throw new IllegalArgumentException("httpStatus must not be negative, but " + httpStatus);
        }
        Message item = new Message(
                Objects.requireNonNull(message, "message"), Objects.requireNonNull(sender, "sender"), httpStatus);
        String id = Long.toString(ids.incrementAndGet());
        var outcome = new CompletableFuture<Outcome<CheckResult>>();
        awaited.put(id, outcome);
        try {
            items.send(id, item);
            receiving.lockInterruptibly();
            try {
                while (!outcome.isDone()) {
                    receive();
                }
            } finally {
                receiving.unlock();
            }
        } catch (InterruptedException interrupt) {
            throw UnaryCall.interrupted(interrupt);
        } finally {
            awaited.remove(id);
        }
        return outcome.join().orThrow();
    }

    /**
     * Ends the session.
     *
     * @return what several of its messages have in common
     * @throws StreamClosedException if the session ended early
     */
    public SessionSummary finish() {
        items.finish();
        try {
            receiving.lockInterruptibly();
            try {
                while (receive()) {
                    // Outcomes for threads that wait, or for none any more.
                }
            } finally {
                receiving.unlock();
            }
        } catch (InterruptedException interrupt) {
            throw UnaryCall.interrupted(interrupt);
        }
        return items.summary()
                .map(response -> ProtocolMessages.summary(response.getSummary()))
                .orElseThrow(() -> new InvalidResponseException("the server sent no summary of the session"));
    }

    private boolean receive() throws InterruptedException {
        var answer = items.receive();
        answer.ifPresent(received -> {
            var waiter = awaited.get(received.id());
            if (waiter != null) {
                waiter.complete(received.outcome());
            }
        });
        return answer.isPresent();
    }

    /** Cancels the call unless it has ended; waiting threads get {@link StreamClosedException}. */
    @Override
    public void close() {
        items.close();
    }

    private record Message(Json json, Sender sender, int httpStatus) {}

    private enum Kind implements StreamKind<Message, CheckSessionRequest, CheckSessionResponse, CheckResult> {
        INSTANCE;

        @Override
        public MethodDescriptor<CheckSessionRequest, CheckSessionResponse> method() {
            return ProtocolServiceGrpc.getCheckSessionMethod();
        }

        @Override
        public CheckSessionResponse response() {
            return CheckSessionResponse.getDefaultInstance();
        }

        @Override
        public CheckSessionRequest request(String id, Message item) {
            SessionItem.Builder message = SessionItem.newBuilder().setId(id);
            if (item != null) {
                message.setMessage(ProtocolMessage.newBuilder()
                                .setJson(item.json().raw())
                                .setSender(ProtocolMessages.sender(item.sender())))
                        .setHttpStatus(item.httpStatus());
            }
            return CheckSessionRequest.newBuilder().setItem(message).build();
        }

        @Override
        public String id(CheckSessionResponse response) {
            return response.getId();
        }

        @Override
        public Outcome<CheckResult> outcome(CheckSessionResponse response) {
            return ProtocolMessages.outcome(response.getOutcome());
        }

        @Override
        public boolean isSummary(CheckSessionResponse response) {
            return response.hasSummary();
        }
    }
}
