package io.sidecheck;

import io.grpc.MethodDescriptor;
import io.sidecheck.v1.StreamItem;
import io.sidecheck.v1.ValidateStreamRequest;
import io.sidecheck.v1.ValidateStreamResponse;
import io.sidecheck.v1.ValidationServiceGrpc;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
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
    private final ItemStream<Item, ValidateStreamRequest, ValidateStreamResponse, Verdict> items;

    ValidationStream(Connection connection, ValidateStreamRequest opening, int outstanding, Duration timeout) {
        items = new ItemStream<>(
                connection, new Kind(connection.options.protocolVersion()), opening, outstanding, timeout);
    }

    /**
     * Sends one item. It waits while {@code outstanding} items have no received outcome, and while
     * the transport accepts no more.
     *
     * @param id id of the outcome; it need not be unique
     * @param item the payload, its target and its options
     * @throws StreamClosedException if the stream has ended; the item is among the unanswered
     * @throws IllegalStateException if the stream is finished
     * @throws InterruptedException if the thread is interrupted; the item was not sent
     */
    public void send(String id, Item item) throws InterruptedException {
        items.send(id, item);
    }

    /**
     * Returns the next outcome, and waits for it.
     *
     * @return the outcome, empty after that of the last item of a finished stream
     * @throws StreamClosedException if the stream ended early
     * @throws InterruptedException if the thread is interrupted; the stream continues
     */
    public Optional<StreamOutcome> receive() throws InterruptedException {
        return items.receive().map(answer -> new StreamOutcome(answer.id(), answer.outcome()));
    }

    /**
     * Ends the items. Those that threads wait to send are still sent, and {@link #receive} returns
     * empty after the last outcome.
     */
    public void finish() {
        items.finish();
    }

    /**
     * Returns the outcomes as {@link #receive} does. A thread that is interrupted gets {@link
     * java.util.concurrent.CancellationException} and stays interrupted.
     */
    @Override
    public Iterator<StreamOutcome> iterator() {
        return new ReceivingIterator<>(this::receive);
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
        items.close();
    }

    /** Streams whose items with options that name no protocol version have this one. */
    private record Kind(String version)
            implements StreamKind<Item, ValidateStreamRequest, ValidateStreamResponse, Verdict> {
        @Override
        public MethodDescriptor<ValidateStreamRequest, ValidateStreamResponse> method() {
            return ValidationServiceGrpc.getValidateStreamMethod();
        }

        @Override
        public ValidateStreamResponse response() {
            return ValidateStreamResponse.getDefaultInstance();
        }

        @Override
        public ValidateStreamRequest request(String id, Item item) {
            StreamItem.Builder message = StreamItem.newBuilder().setId(id);
            if (item != null) {
                message.setItem(ValidationMessages.item(item, version));
            }
            return ValidateStreamRequest.newBuilder().setItem(message).build();
        }

        @Override
        public String id(ValidateStreamResponse response) {
            return response.getId();
        }

        @Override
        public Outcome<Verdict> outcome(ValidateStreamResponse response) {
            return ValidationMessages.outcome(response.getOutcome(), response.getRegistryRevision());
        }
    }
}
