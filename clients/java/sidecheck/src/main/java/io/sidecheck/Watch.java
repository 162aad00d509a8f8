package io.sidecheck;

import io.grpc.Context;
import io.grpc.Status;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A watch of registered tools: {@link Client#watch}.
 *
 * <p>A {@link ToolsChange} has all that one revision changed, in the order of revisions, each at
 * least once. A {@link Checkpoint} says that there are no others up to a revision: first of all
 * without {@link WatchOptions#after}, whenever all were told, and every few seconds. To mirror the
 * registry, take the first checkpoint, list the tools, and apply what follows.
 *
 * <p>A lost connection is made again, and the watch goes on where it was. Only what ends it is
 * thrown: {@link UnavailableException} if no event came for {@link WatchOptions#patience} or the
 * server does not let the caller watch; {@link SidecheckException} with the reason {@code
 * COMPACTED} if changes since the last event are not kept, or the registry is another one by now,
 * so that it has to be mirrored again; and other errors of the server.
 *
 * <p>A watch has no deadline. Threads may share it. It takes a call of the connection from its first
 * event on, until it ends or is closed; close it with try-with-resources.
 */
public final class Watch implements AutoCloseable, Iterable<WatchEvent> {
    /** Nanoseconds between two attempts to connect: they double, up to the longest. */
    private static final long FIRST_PAUSE = 100_000_000;

    private static final long LONGEST_PAUSE = 5_000_000_000L;

    /** What another attempt would end with, too. */
    private static final Set<Status.Code> LASTING =
            EnumSet.of(Status.Code.PERMISSION_DENIED, Status.Code.UNAUTHENTICATED, Status.Code.UNIMPLEMENTED);

    private final Connection connection;
    private final List<String> servers;
    private final Duration patience;

    /** Guards the position and the error. */
    private final ReentrantLock receiving = new ReentrantLock();

    private Checkpoint after;
    private SidecheckException error;

    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile WatchCall call;
    private volatile boolean closed;

    Watch(Connection connection, List<String> servers, WatchOptions options) {
        this.connection = connection;
        this.servers = List.copyOf(servers);
        this.after = options.after();
        this.patience = options.patience();
    }

    /**
     * Returns the next event, and waits for it.
     *
     * @return the event, empty if the watch was closed
     * @throws SidecheckException if the watch ended, now and from now on
     * @throws InterruptedException if the thread is interrupted; the watch continues
     */
    public Optional<WatchEvent> receive() throws InterruptedException {
        receiving.lockInterruptibly();
        try {
            if (error != null) {
                throw error;
            }
            Optional<WatchEvent> event = await();
            event.ifPresent(received -> after = received.checkpoint());
            return event;
        } catch (SidecheckException failure) {
            leaveCall();
            if (closed) {
                return Optional.empty();
            }
            error = failure;
            throw failure;
        } finally {
            receiving.unlock();
        }
    }

    private Optional<WatchEvent> await() throws InterruptedException {
        long start = System.nanoTime();
        long pause = FIRST_PAUSE;
        while (!closed) {
            UnavailableException lost;
            try {
                Optional<WatchEvent> event = openCall().receive();
                if (event.isPresent()) {
                    return event;
                }
                lost = Errors.streamEnded();
            } catch (UnavailableException unavailable) {
                lost = unavailable;
            }
            leaveCall();
            if (Context.current().isCancelled()) {
                throw UnaryCall.cancelled(Context.current().cancellationCause());
            }
            long jittered = ThreadLocalRandom.current().nextLong(pause / 2, pause + 1);
            long asked = TimeUnit.NANOSECONDS.convert(lost.retryAfter().orElse(Duration.ZERO));
            long delay = Math.max(asked, jittered);
            Duration silence = Duration.ofNanos(System.nanoTime() - start).plusNanos(delay);
            if (LASTING.contains(lost.code()) || silence.compareTo(patience) > 0) {
                throw lost;
            }
            connection.pause(stopped, delay);
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
        return Optional.empty();
    }

    private WatchCall openCall() {
        WatchCall open = call;
        if (open == null) {
            open = WatchCall.open(connection, RegistryMessages.watchRequest(servers, after));
            call = open;
            if (closed) {
                // Whoever closed the watch may not have seen the call.
                open.cancel();
            }
        }
        return open;
    }

    private void leaveCall() {
        WatchCall left = call;
        if (left != null) {
            call = null;
            left.cancel();
        }
    }

    /**
     * Returns the events as {@link #receive} does. A thread that is interrupted gets {@link
     * java.util.concurrent.CancellationException} and stays interrupted.
     */
    @Override
    public Iterator<WatchEvent> iterator() {
        return new ReceivingIterator<>(this::receive);
    }

    /** Ends the watch; threads that wait for an event get none. */
    @Override
    public void close() {
        closed = true;
        stopped.countDown();
        leaveCall();
    }
}
