package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.grpc.InternalChannelz;
import io.grpc.InternalChannelz.ChannelStats;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What remains of calls, streams and clients that were left: no open call, thread or socket. */
@Timeout(300)
class LeakTest {
    private static final Target SCHEMA = new Target.Schema(Json.text("{\"type\":\"object\"}"));
    private static final Json MESSAGE = Json.text("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}");
    private static final int REPETITIONS = 20;

    @ParameterizedTest
    @ValueSource(strings = {"real", "silent"})
    void leavesNoCallAndNoThread(String server) throws Exception {
        Conformance conformance = Conformance.required();
        try (Client client = conformance.client(server)) {
            leaveCalls(server, client);
            long threads = threads();
            for (int repetition = 0; repetition < REPETITIONS; repetition++) {
                leaveCalls(server, client);
            }
            String address = conformance.address(server);
            await(() -> openCalls(address) == 0);
            await(() -> threads() <= threads);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "silent"})
    void leavesNothingOfAClosedClient(String server) throws Exception {
        Conformance conformance = Conformance.required();
        String address = conformance.address(server);
        var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        // One client stays, with the threads and descriptors that all clients share.
        try (Client other = conformance.client("real")) {
            other.info();
            long channels = stats(address).size();
            useAndClose(conformance, server);
            await(() -> stats(address).size() == channels);
            long threads = threads();
            long descriptors = system.getOpenFileDescriptorCount();
            useAndClose(conformance, server);
            await(() -> stats(address).size() == channels);
            await(() -> threads() <= threads);
            await(() -> system.getOpenFileDescriptorCount() <= descriptors);
        }
    }

    private static void useAndClose(Conformance conformance, String server) throws Exception {
        List<Client> clients = new ArrayList<>();
        for (int index = 0; index < REPETITIONS; index++) {
            Client client = conformance.client(server);
            clients.add(client);
            leaveCalls(server, client);
            if (server.equals("real")) {
                // The streams are left to the client to end.
                client.stream(SCHEMA, null).send("1", new Item(new Subject.Arguments(MESSAGE)));
                client.protocol().session().check(MESSAGE, Sender.CLIENT);
                client.watch(List.of(), WatchOptions.DEFAULTS).receive();
            }
        }
        clients.forEach(Client::close);
    }

    /** Leaves a watch, a stream, a session, a call at its deadline and an interrupted call. */
    private static void leaveCalls(String server, Client client) throws Exception {
        Thread watching;
        try (Watch watch = client.watch(List.of(), WatchOptions.DEFAULTS)) {
            if (server.equals("real")) {
                watch.receive();
            }
            watching = new Thread(() -> watch.forEach(event -> {}));
            watching.start();
        }
        watching.join();
        if (server.equals("real")) {
            try (ValidationStream stream = client.stream(SCHEMA, null)) {
                stream.send("1", new Item(new Subject.Arguments(MESSAGE)));
                stream.send("2", new Item(new Subject.Arguments(MESSAGE)));
                assertEquals("1", stream.receive().orElseThrow().id());
            }
            try (Session session = client.protocol().session()) {
                session.check(MESSAGE, Sender.CLIENT);
            }
        } else {
            Client hasty = client.withTimeout(Duration.ofMillis(1));
            assertThrows(UnavailableException.class, () -> hasty.stream(SCHEMA, null));
            assertThrows(UnavailableException.class, () -> hasty.protocol().session());
            assertThrows(UnavailableException.class, () -> hasty.validate(SCHEMA, MESSAGE));
        }
        Thread.currentThread().interrupt();
        assertThrows(CancellationException.class, () -> client.validate(SCHEMA, MESSAGE));
        assertTrue(Thread.interrupted());
    }

    private static long openCalls(String address) {
        return stats(address).stream()
                .mapToLong(stats -> stats.callsStarted - stats.callsSucceeded - stats.callsFailed)
                .sum();
    }

    /** The channels to an address that have not terminated, as gRPC's channelz has them. */
    private static List<ChannelStats> stats(String address) {
        List<ChannelStats> found = new ArrayList<>();
        for (var channel : InternalChannelz.instance().getRootChannels(0, Integer.MAX_VALUE).channels) {
            try {
                ChannelStats stats = channel.getStats().get();
                if (stats.target.endsWith(address)) {
                    found.add(stats);
                }
            } catch (ExecutionException | InterruptedException error) {
                throw new AssertionError(error);
            }
        }
        return found;
    }

    /** Threads but those of gRPC's cached pool, which end when they have been idle for a minute. */
    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("grpc-default-executor"))
                .count();
    }

    /** Waits for what other threads still have to do; the time-out of the test ends it. */
    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertTrue(!Thread.currentThread().isInterrupted(), "the condition was not met in time");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }
}
