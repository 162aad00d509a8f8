package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that are killed, silent or behind TLS. */
@Timeout(300)
class FaultTest {
    private static final Target SCHEMA = new Target.Schema(Json.text("{\"type\":\"object\"}"));
    private static final Item ITEM = new Item(new Subject.Arguments(Json.text("{}")));
    private static final ClientOptions PATIENT = ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(120));

    @Test
    void reportsAKilledServerAndCallsTheNextOne() throws Exception {
        Conformance conformance = Conformance.required();
        int port;
        Client client;
        try (RunningServer first = RunningServer.start(conformance, 0, Map.of())) {
            port = first.port();
            client = new Client("127.0.0.1:" + port, PATIENT);
            try (ValidationStream stream = client.stream(SCHEMA, null)) {
                stream.send("1", ITEM);
                assertEquals("1", stream.receive().orElseThrow().id());
                first.kill();
                var error = assertThrows(StreamUnavailableException.class, () -> {
                    stream.send("2", ITEM);
                    stream.receive();
                });
                assertEquals(List.of("2"), error.unanswered());
            }
        }
        assertThrows(UnavailableException.class, () -> client.validate(SCHEMA, Json.text("{}")));
        try (client;
                RunningServer second = RunningServer.start(conformance, port, Map.of())) {
            assertTrue(client.validate(SCHEMA, Json.text("{}")).valid());
            assertEquals(port, second.port());
        }
    }

    @Test
    void waitsForAServerThatIsBackAndSlowToConnect() throws Exception {
        String[] real = Conformance.required().address("real").split(":");
        int port;
        try (ServerSocket unused = new ServerSocket(0)) {
            port = unused.getLocalPort();
        }
        try (Client client = new Client("127.0.0.1:" + port, PATIENT)) {
            assertThrows(UnavailableException.class, () -> client.validate(SCHEMA, Json.text("{}")));
            try (ServerSocket listener = new ServerSocket(port)) {
                CompletableFuture.runAsync(() -> {
                    // A client may connect again, where the machine is busy.
                    while (true) {
                        Socket near;
                        try {
                            near = listener.accept();
                        } catch (IOException closed) {
                            return;
                        }
                        CompletableFuture.runAsync(() -> forwardLate(near, real));
                    }
                });
                assertTrue(client.validate(SCHEMA, Json.text("{}")).valid());
            }
        }
    }

    private static void forwardLate(Socket near, String[] real) {
        try (near;
                Socket far = new Socket(real[0], Integer.parseInt(real[1]))) {
            // Longer than the pauses between all attempts of a call.
            Thread.sleep(2000);
            CompletableFuture.runAsync(() -> forward(far, near));
            forward(near, far);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void forward(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Test
    void validatesThroughTls() {
        Conformance conformance = Conformance.required();
        String address = conformance.address("tls");
        try (Client client = new Client(address, PATIENT.withTls(conformance.tls()))) {
            assertTrue(client.validate(SCHEMA, Json.text("{}")).valid());
        }
        try (Client plain = new Client(address)) {
            assertThrows(UnavailableException.class, () -> plain.validate(SCHEMA, Json.text("{}")));
        }
    }

    @Test
    void retriesFailedAttempts() {
        try (Client client = Conformance.required().client("flaky")) {
            assertTrue(client.validate(SCHEMA, Json.text("{}")).valid());
        }
    }

    @Test
    void cancelsTheCallsOfAnInterruptedThread() throws Exception {
        try (Client client = Conformance.required().client("silent")) {
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread caller = new Thread(() -> {
                try {
                    client.validate(SCHEMA, Json.text("{}"));
                    interrupted.complete(false);
                } catch (CancellationException cancelled) {
                    interrupted.complete(Thread.currentThread().isInterrupted());
                }
            });
            caller.start();
            while (caller.getState() != Thread.State.WAITING) {
                assertTrue(caller.isAlive(), "the call ended");
                Thread.onSpinWait();
            }
            caller.interrupt();
            assertTrue(interrupted.get());
            caller.join();
        }
    }
}
