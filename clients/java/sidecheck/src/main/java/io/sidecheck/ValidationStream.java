package io.sidecheck;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.sidecheck.v1.StreamItem;
import io.sidecheck.v1.ValidateStreamRequest;
import io.sidecheck.v1.ValidateStreamResponse;
import io.sidecheck.v1.ValidationServiceGrpc;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A stream of payloads: {@link #send} items, {@link #receive} their outcomes in order, {@link
 * #finish}. Threads may send and receive at the same time. At most {@code outstanding} items may be
 * sent whose outcomes have not been received: then {@code send} waits.
 *
 * <p>The verdict on an item, or its error, is its outcome. What ends the stream as a whole early is
 * thrown as {@link StreamClosedException}, by {@code receive} and by {@code send}, also by one that
 * waits. A stream is not retried. Closing it cancels the call; do so with try-with-resources.
 */
public final class ValidationStream implements AutoCloseable, Iterable<StreamOutcome> {
    private final Connection connection;
    private final long messageBytes;
    private final int outstanding;
    private final ClientCall<ValidateStreamRequest, ByteString> call;

    /** Guards everything below; {@link #changed} tells of each change. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Pending> pending = new ArrayDeque<>();
    private final ArrayDeque<ByteString> responses = new ArrayDeque<>();
    private boolean finished;
    private boolean callEnded;
    private SidecheckException callError;
    private StreamClosedException error;

    /** An item without an outcome, and its local error if it could not be sent. */
    private record Pending(String id, SidecheckException error) {}

    ValidationStream(
            Connection connection,
            ValidateStreamRequest opening,
            int outstanding,
            Duration timeout) {
        if (outstanding < 1) {
            throw new IllegalArgumentException("outstanding must be positive, not " + outstanding);
        }
        this.connection = connection;
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
        var method = ValidationServiceGrpc.getValidateStreamMethod();
        call = connection.channel.newCall(
                method.toBuilder(
                                method.getRequestMarshaller(), UnaryCall.BytesMarshaller.INSTANCE)
                        .build(),
                options);
        call.start(new Listener(), new Metadata());
        // There are never more responses than items without an outcome.
        call.request(outstanding);
        call.sendMessage(opening);
    }

    /**
     * Sends one item. It waits while {@code outstanding} items have no received outcome, and while
     * the transport accepts no more.
     *
     * @param id id of the outcome; it need not be unique
     * @param item the payload, its target and its options
     * @throws StreamClosedException if the stream has ended
     * @throws IllegalStateException if the stream is finished
     * @throws InterruptedException if the thread is interrupted; nothing was sent
     */
    public void send(String id, Item item) throws InterruptedException {
        ValidateStreamRequest message;
        SidecheckException local = null;
        try {
            String version = connection.options.protocolVersion();
            message = request(StreamItem.newBuilder()
                    .setId(id)
                    .setItem(ValidationMessages.item(item, version)));
            if (message.getSerializedSize() > messageBytes) {
                local = Errors.tooLarge(message.getSerializedSize(), messageBytes);
            }
        } catch (IllegalArgumentException | NullPointerException failure) {
            message = null;
            local = Errors.notEncodable(failure);
        }
        if (local != null) {
            // The outcome of the id alone is replaced by this error, so outcomes stay in order.
            message = request(StreamItem.newBuilder().setId(id));
        }
        lock.lockInterruptibly();
        try {
            while (error == null && !callEnded && !finished
                    && (pending.size() >= outstanding || !call.isReady())) {
                changed.await();
            }
            if (finished) {
                throw new IllegalStateException("the stream is finished and accepts no more items");
            }
            if (error != null) {
                throw error;
            }
            if (callEnded) {
                // The outcomes that have arrived can still be received, so no error is stored.
                throw closed(callError == null ? endedEarly() : callError);
            }
            pending.add(new Pending(id, local));
            call.sendMessage(message);
        } finally {
            lock.unlock();
        }
    }

    private static ValidateStreamRequest request(StreamItem.Builder item) {
        return ValidateStreamRequest.newBuilder().setItem(item).build();
    }

    /**
     * Returns the next outcome, and waits for it.
     *
     * @return the outcome, empty after that of the last item of a finished stream
     * @throws StreamClosedException if the stream ended early
     * @throws InterruptedException if the thread is interrupted; the stream continues
     */
    public Optional<StreamOutcome> receive() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (error == null && responses.isEmpty() && !callEnded) {
                changed.await();
            }
            if (error != null) {
                throw error;
            }
            if (responses.isEmpty()) {
                if (callError == null && finished && pending.isEmpty()) {
                    return Optional.empty();
                }
                throw fail(callError == null ? endedEarly() : callError);
            }
            StreamOutcome outcome = decode(responses.remove());
            changed.signalAll();
            if (!callEnded) {
                call.request(1);
            }
            return Optional.of(outcome);
        } finally {
            lock.unlock();
        }
    }

    private StreamOutcome decode(ByteString bytes) {
        try {
            var response = UnaryCall.parse(bytes, ValidateStreamResponse.getDefaultInstance());
            Pending next = pending.peek();
            // The id is "" where the server could not read it.
            if (next == null
                    || !response.getId().isEmpty() && !response.getId().equals(next.id())) {
                throw new InvalidResponseException("the server responded out of order");
            }
            Outcome<Verdict> outcome = next.error() == null
                    ? ValidationMessages.outcome(
                            response.getOutcome(), response.getRegistryRevision())
                    : new Outcome.Failure<>(next.error());
            pending.remove();
            return new StreamOutcome(next.id(), outcome);
        } catch (InvalidResponseException invalid) {
            call.cancel("invalid response", null);
            throw fail(invalid);
        }
    }

    /** Ends the items. {@link #receive} returns empty after the last outcome. */
    public void finish() {
        lock.lock();
        try {
            if (!finished && error == null && !callEnded) {
                call.halfClose();
            }
            finished = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the outcomes as {@link #receive} does. A thread that is interrupted gets {@link
     * java.util.concurrent.CancellationException} and stays interrupted.
     */
    @Override
    public Iterator<StreamOutcome> iterator() {
        return new Iterator<>() {
            private Optional<StreamOutcome> next;

            @Override
            public boolean hasNext() {
                if (next == null) {
                    try {
                        next = receive();
                    } catch (InterruptedException interrupt) {
                        Thread.currentThread().interrupt();
                        throw UnaryCall.cancelled(interrupt);
                    }
                }
                return next.isPresent();
            }

            @Override
            public StreamOutcome next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                StreamOutcome outcome = next.get();
                next = null;
                return outcome;
            }
        };
    }

    /**
     * Returns the outcomes as {@link #iterator} does.
     *
     * @return a sequential stream; closing it closes this stream
     */
    public Stream<StreamOutcome> stream() {
        return StreamSupport.stream(spliterator(), false).onClose(this::close);
    }

    /** Cancels the call unless it has ended; waiting threads get {@link StreamClosedException}. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (error == null) {
                fail(new SidecheckException(
                        "CANCELLED", "the stream was left", Map.of(), Status.Code.CANCELLED, null));
            }
        } finally {
            lock.unlock();
        }
        call.cancel("the stream was left", null);
    }

    private StreamClosedException fail(SidecheckException cause) {
        error = closed(cause);
        changed.signalAll();
        return error;
    }

    private StreamClosedException closed(SidecheckException cause) {
        List<String> unanswered = pending.stream().map(Pending::id).toList();
        return cause instanceof UnavailableException
                ? new StreamUnavailableException(cause, unanswered)
                : new StreamClosedException(cause, unanswered);
    }

    private static SidecheckException endedEarly() {
        return new InvalidResponseException("the server ended the stream early");
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
                            : Errors.ofCall(status, trailers);
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
