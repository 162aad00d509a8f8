package io.sidecheck;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Message;
import io.grpc.ClientStreamTracer;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.sidecheck.v1.GetServerInfoRequest;
import io.sidecheck.v1.GetServerInfoResponse;
import io.sidecheck.v1.InfoServiceGrpc;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

/** Calls to a server, with the deadline and the policy of a client and the server's limits. */
final class Connection {
    /** Shortest time between attempts to connect that callers bring about, in nanoseconds. */
    private static final long MIN_PAUSE = 100_000_000;

    final ManagedChannel channel;
    final Peer peer;
    final ClientOptions options;
    private volatile Limits limits;

    /** Least revision of the registry that requests read. */
    volatile long minRevision;

    private final AtomicLong reconnected = new AtomicLong(System.nanoTime() - MIN_PAUSE - 1);
    private volatile boolean closed;

    /** What ends the pauses that threads make now. */
    private final Set<CountDownLatch> pauses = ConcurrentHashMap.newKeySet();

    /** Is called before each attempt of a call. */
    final ClientStreamTracer.Factory attempts = new ClientStreamTracer.Factory() {
        @Override
        public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
            reconnect();
            return new ClientStreamTracer() {};
        }
    };

    Connection(String address, ClientOptions options) {
        this.options = options;
        this.channel = Channels.open(address, options);
        this.peer = new Peer(address, options.tls());
    }

    <Q extends Message, A extends Message> A call(
            MethodDescriptor<Q, A> method, Q request, A answer, Duration timeout) {
        if (closed) {
            throw Errors.clientClosed();
        }
        try {
            return sendUnlessRefused(method, request, answer, timeout == null ? options.timeout() : timeout);
        } catch (SidecheckException error) {
            if (closed && error instanceof UnavailableException) {
                throw Errors.clientClosed();
            }
            if (error.reason().equals(ErrorReason.LIMIT_EXCEEDED)) {
                // The server may have been replaced by one with lower limits.
                limits = null;
            }
            throw error;
        }
    }

    /**
     * Sends a call, again as often as its deadline allows if the server refuses it before any work
     * on it (RFC 9113, section 8.7). That happens to clients that have as many calls as the server's
     * limit, because a server may count a stream for longer than its client does. Each call has the
     * retries and pauses of the service config.
     */
    private <Q extends Message, A extends Message> A sendUnlessRefused(
            MethodDescriptor<Q, A> method, Q request, A answer, Duration timeout) {
        long start = System.nanoTime();
        Duration left = timeout;
        while (true) {
            try {
                return UnaryCall.send(this, method, request, answer, left);
            } catch (UnavailableException error) {
                left = timeout.minusNanos(System.nanoTime() - start);
                if (!Errors.isRefused(error) || left.isNegative() || left.isZero()) {
                    throw error;
                }
            }
        }
    }

    /**
     * Has a lost connection tried again at once. gRPC's own pauses between connections grow to two
     * minutes, cannot be set, and outlast the retries of a call. From idle, calls wait for the
     * outcome of the attempt; in the other states they would not.
     */
    void reconnect() {
        long now = System.nanoTime();
        long last = reconnected.get();
        if (now - last > MIN_PAUSE
                && channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE
                && reconnected.compareAndSet(last, now)) {
            channel.enterIdle();
        }
    }

    <T> T orFallBack(Supplier<T> call, Function<Verdict, T> fallback) {
        try {
            return call.get();
        } catch (UnavailableException error) {
            return fallback.apply(Verdict.ofUnavailable(error, options.onUnavailable()));
        }
    }

    /** Outcomes of items, sent in as many requests as the limits require. */
    <M extends Message, T> List<Outcome<T>> callInParts(
            List<M> messages,
            int emptyBytes,
            Function<List<M>, List<Outcome<T>>> send,
            Function<Verdict, T> fallback,
            Duration timeout) {
        List<Outcome<T>> outcomes = new ArrayList<>(messages.size());
        if (messages.isEmpty()) {
            return outcomes;
        }
        try {
            Limits bounds = limits(timeout);
            long room = bounds.messageBytes() - emptyBytes;
            for (List<M> part : split(messages, room, bounds.batchItems())) {
                long size = elementBytes(part.get(0));
                if (size > room) {
                    outcomes.add(new Outcome.Failure<>(Errors.tooLarge(size, bounds.messageBytes())));
                    continue;
                }
                List<Outcome<T>> decoded = sendPart(part, send);
                decoded.forEach(outcome -> outcomes.add(settle(outcome, fallback)));
            }
        } catch (UnavailableException error) {
            // The remaining parts are not tried: each would cost another deadline.
            Outcome<T> outcome = settle(new Outcome.Failure<>(error), fallback);
            while (outcomes.size() < messages.size()) {
                outcomes.add(outcome);
            }
        }
        return outcomes;
    }

    /** Outcomes of items; those whose worker crashed are sent once again. */
    private static <M, T> List<Outcome<T>> sendPart(List<M> part, Function<List<M>, List<Outcome<T>>> send) {
        List<Outcome<T>> outcomes = new ArrayList<>(send.apply(part));
        Errors.requireOutcomes(outcomes.size(), part.size());
        List<Integer> crashed = new ArrayList<>();
        for (int index = 0; index < outcomes.size(); index++) {
            if (outcomes.get(index) instanceof Outcome.Failure<T> failure
                    && failure.error().reason().equals(ErrorReason.WORKER_CRASHED)) {
                crashed.add(index);
            }
        }
        if (crashed.isEmpty()) {
            return outcomes;
        }
        try {
            List<Outcome<T>> answers =
                    send.apply(crashed.stream().map(part::get).toList());
            Errors.requireOutcomes(answers.size(), crashed.size());
            for (int position = 0; position < answers.size(); position++) {
                outcomes.set(crashed.get(position), answers.get(position));
            }
        } catch (UnavailableException error) {
            return outcomes; // With the errors of the first time.
        }
        return outcomes;
    }

    private <T> Outcome<T> settle(Outcome<T> outcome, Function<Verdict, T> fallback) {
        if (options.onUnavailable() != OnUnavailable.ERROR
                && outcome instanceof Outcome.Failure<T> failure
                && failure.error() instanceof UnavailableException error) {
            return new Outcome.Success<>(fallback.apply(Verdict.ofUnavailable(error, options.onUnavailable())));
        }
        return outcome;
    }

    ServerInfo info(Duration timeout) {
        ServerInfo info = RegistryMessages.info(call(
                InfoServiceGrpc.getGetServerInfoMethod(),
                GetServerInfoRequest.getDefaultInstance(),
                GetServerInfoResponse.getDefaultInstance(),
                timeout));
        limits = info.limits();
        return info;
    }

    Limits limits(Duration timeout) {
        Limits known = limits;
        return known == null ? info(timeout).limits() : known;
    }

    /** Waits for a time, and no longer than until the latch is open or the client closed. */
    void pause(CountDownLatch latch, long nanoseconds) throws InterruptedException {
        pauses.add(latch);
        try {
            if (!closed) {
                latch.await(nanoseconds, TimeUnit.NANOSECONDS);
            }
        } finally {
            pauses.remove(latch);
        }
    }

    void close() {
        closed = true;
        channel.shutdownNow();
        pauses.forEach(CountDownLatch::countDown);
    }

    boolean isClosed() {
        return closed;
    }

    /** Parts within both limits; a message over the bytes gets its own. */
    static <M extends Message> List<List<M>> split(List<M> messages, long maxBytes, long maxItems) {
        List<List<M>> parts = new ArrayList<>();
        int start = 0;
        long total = 0;
        for (int index = 0; index < messages.size(); index++) {
            long size = elementBytes(messages.get(index));
            if (index > start && (total + size > maxBytes || index - start >= maxItems)) {
                parts.add(messages.subList(start, index));
                start = index;
                total = 0;
            }
            total += size;
        }
        if (!messages.isEmpty()) {
            parts.add(messages.subList(start, messages.size()));
        }
        return parts;
    }

    /** Size as an element of a repeated field whose number takes one byte. */
    static long elementBytes(Message message) {
        int size = message.getSerializedSize();
        return 1 + CodedOutputStream.computeUInt32SizeNoTag(size) + (long) size;
    }
}
