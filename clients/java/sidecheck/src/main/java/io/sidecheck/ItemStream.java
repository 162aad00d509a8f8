package io.sidecheck;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * The call of a stream, with its pending items. Threads may send and receive at the same time.
 *
 * <p>Each item has one response, in order. For an item that cannot be sent, its id alone is, and a
 * local error replaces the outcome in the response. The type parameters are those of {@link
 * StreamKind}.
 */
final class ItemStream<I, Q extends Message, A extends Message, T> {
    private final Connection connection;
    private final StreamKind<I, Q, A, T> kind;
    private final long messageBytes;
    private final int outstanding;
    private final ClientCall<Q, ByteString> call;

    /** Guards everything below; {@link #changed} tells of each change. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
    private final ArrayDeque<Pending> sent = new ArrayDeque<>();
    private final ArrayDeque<ByteString> responses = new ArrayDeque<>();
    private A summary;
    private boolean finished;
    private boolean callEnded;
    private SidecheckException callError;
    private StreamClosedException error;

    /** The outcome of an item, with its id. */
    record Answer<T>(String id, Outcome<T> outcome) {}

    /** An item without an outcome. Instances are compared by identity: ids need not be unique. */
    private static final class Pending {
        final String id;
        /** The error of an item that could not be sent, or null. */
        final SidecheckException error;

        Pending(String id, SidecheckException error) {
            this.id = id;
            this.error = error;
        }
    }

    /** Opens a stream with its first message; the timeout is that of all of it, or null. */
    ItemStream(Connection connection, StreamKind<I, Q, A, T> kind, Q opening, int outstanding, Duration timeout) {
        if (outstanding < 1) {
            throw new IllegalArgumentException("outstanding must be positive, not " + outstanding);
        }
        this.connection = connection;
        this.kind = kind;
        this.outstanding = outstanding;
        // Fetched for each stream: this call is retried while no server responds, unlike the
        // stream itself.
        long opened = System.nanoTime();
        messageBytes = connection.info(timeout).limits().messageBytes();
        if (opening.getSerializedSize() > messageBytes) {
            throw Errors.tooLarge(opening.getSerializedSize(), messageBytes);
        }
        CallOptions options = CallOptions.DEFAULT.withExecutor(Runnable::run);
        if (timeout != null) {
            long rest = timeout.toNanos() - (System.nanoTime() - opened);
            options = options.withDeadlineAfter(Math.max(0, rest), TimeUnit.NANOSECONDS);
        }
        call = connection.channel.newCall(UnaryCall.leavingBytes(kind.method()), options);
        call.start(new Listener(), new Metadata());
        // Responses that are requested and not received never outnumber the items sent.
        call.request(outstanding);
        call.sendMessage(opening);
    }

    /** Sends an item, after those of threads that wait already. */
    void send(String id, I item) throws InterruptedException {
        Q message;
        SidecheckException local = null;
        try {
            message = kind.request(id, item);
            if (message.getSerializedSize() > messageBytes) {
                local = Errors.tooLarge(message.getSerializedSize(), messageBytes);
            }
        } catch (IllegalArgumentException | NullPointerException failure) {
            message = null;
            local = Errors.notEncodable(failure);
        }
        if (local != null) {
            message = kind.request(id, null);
        }
        lock.lockInterruptibly();
        try {
            throwError();
            if (finished) {
                throw new IllegalStateException("the stream is finished and accepts no more items");
            }
            Pending own = new Pending(id, local);
            waiting.add(own);
            awaitTurn(own);
            throwError();
            if (callEnded) {
                // The outcomes that have arrived can still be received, so no error is stored.
                throw closed(callFailure());
            }
            call.sendMessage(message);
            sent.add(waiting.remove());
            halfCloseIfDone();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void awaitTurn(Pending own) throws InterruptedException {
        try {
            while (error == null
                    && !callEnded
                    && (waiting.peek() != own || sent.size() >= outstanding || !call.isReady())) {
                changed.await();
            }
        } catch (InterruptedException interrupt) {
            waiting.remove(own);
            halfCloseIfDone();
            changed.signalAll();
            throw interrupt;
        }
    }

    /** Returns the next outcome, empty after the last one of a finished stream. */
    Optional<Answer<T>> receive() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                while (error == null && responses.isEmpty() && !callEnded) {
                    changed.await();
                }
                throwError();
                if (responses.isEmpty()) {
                    if (callError == null && finished && waiting.isEmpty() && sent.isEmpty()) {
                        return Optional.empty();
                    }
                    throw fail(callFailure());
                }
                Optional<Answer<T>> answer = decode(responses.remove());
                changed.signalAll();
                if (!callEnded) {
                    call.request(1);
                }
                if (answer.isPresent()) {
                    return answer;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private Optional<Answer<T>> decode(ByteString bytes) {
        try {
            A response = UnaryCall.parse(bytes, kind.response());
            if (kind.isSummary(response)) {
                summary = response;
                return Optional.empty();
            }
            String id = kind.id(response);
            Pending next = sent.peek();
            if (next == null || !id.isEmpty() && !id.equals(next.id)) {
                throw new InvalidResponseException("the server responded out of order");
            }
            Outcome<T> outcome = next.error == null ? kind.outcome(response) : new Outcome.Failure<>(next.error);
            sent.remove();
            return Optional.of(new Answer<>(next.id, outcome));
        } catch (InvalidResponseException invalid) {
            call.cancel("invalid response", null);
            throw fail(invalid);
        }
    }

    /** Ends the items. Those of threads that wait to send are still sent. */
    void finish() {
        lock.lock();
        try {
            if (!finished) {
                finished = true;
                halfCloseIfDone();
            }
        } finally {
            lock.unlock();
        }
    }

    private void halfCloseIfDone() {
        if (finished && waiting.isEmpty() && error == null && !callEnded) {
            call.halfClose();
        }
    }

    /** The response to the whole stream, if there was one. */
    Optional<A> summary() {
        lock.lock();
        try {
            return Optional.ofNullable(summary);
        } finally {
            lock.unlock();
        }
    }

    /** Cancels the call unless it has ended, and wakes the threads that wait. */
    void close() {
        lock.lock();
        try {
            if (error == null) {
                fail(Errors.streamLeft());
            }
        } finally {
            lock.unlock();
        }
        call.cancel("the stream was left", null);
    }

    private void throwError() {
        if (error != null) {
            throw error;
        }
    }

    private SidecheckException callFailure() {
        return callError == null ? new InvalidResponseException("the server ended the stream early") : callError;
    }

    private StreamClosedException fail(SidecheckException cause) {
        error = closed(cause);
        changed.signalAll();
        return error;
    }

    private StreamClosedException closed(SidecheckException cause) {
        List<String> unanswered = Stream.concat(sent.stream(), waiting.stream())
                .map(pending -> pending.id)
                .toList();
        return cause instanceof UnavailableException
                ? new StreamUnavailableException(cause, unanswered)
                : new StreamClosedException(cause, unanswered);
    }

    private final class Listener extends ClientCall.Listener<ByteString> {
        @Override
        public void onMessage(ByteString message) {
            change(() -> responses.add(message));
        }

        @Override
        public void onReady() {
            change(() -> {});
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            change(() -> {
                callEnded = true;
                if (!status.isOk()) {
                    callError = connection.isClosed()
                            ? Errors.clientClosed()
                            : Errors.ofCall(status, trailers, connection.peer);
                }
            });
        }

        private void change(Runnable update) {
            lock.lock();
            try {
                update.run();
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }
}
