package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.sidecheck.v1.InfoServiceGrpc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tokens, most of them with a real server that requires them. */
@Timeout(300)
class TokenTest {
    private static final Target OBJECT = new Target.Schema(Json.text("{\"type\":\"object\"}"));
    private static final Json LIST = Json.text("[]");
    private static final Json PING = Json.text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");

    /** No answer that a token is wrong may let a payload pass. */
    private static final ClientOptions PATIENT =
            ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(120)).withOnUnavailable(OnUnavailable.ALLOW);

    @TempDir
    Path folder;

    private record Secured(RunningServer server, String validator, String registrar) implements AutoCloseable {
        Client client(ClientOptions options) {
            return new Client(server.address(), options);
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** Starts a server with two tokens, which have one role each. */
    private Secured start() throws Exception {
        Conformance conformance = Conformance.required();
        Path file = Files.createFile(folder.resolve("tokens.toml"));
        String validator = newToken(conformance, "validate", file);
        String registrar = newToken(conformance, "register", file);
        var environment = Map.of("SIDECHECK_TOKENS_FILE", file.toString());
        return new Secured(RunningServer.start(conformance, 0, environment), validator, registrar);
    }

    private String newToken(Conformance conformance, String role, Path file) throws Exception {
        List<String> command = new ArrayList<>();
        for (var word : conformance.settings().get("serve")) {
            if (word.asString().equals("serve")) {
                break;
            }
            command.add(word.asString());
        }
        command.addAll(List.of("token", "new", role, "--role", role));
        Path errors = folder.resolve(role);
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(file.toFile()))
                .redirectError(errors.toFile())
                .start();
        assertEquals(0, process.waitFor());
        return List.of(Files.readString(errors).split("\\s+")).stream()
                .filter(word -> word.startsWith("sct_"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void callsBatchesStreamsAndSessionsCarryTheToken() throws Exception {
        try (Secured secured = start();
                Client client = secured.client(PATIENT.withToken(secured.validator()))) {
            assertFalse(client.validate(OBJECT, LIST).valid());
            Item item = new Item(new Subject.Arguments(LIST));
            assertFalse(client.validateBatch(List.of(item), OBJECT, null)
                    .get(0)
                    .orThrow()
                    .valid());
            try (ValidationStream stream = client.stream(OBJECT, null)) {
                stream.send("a", item);
                assertFalse(stream.receive().orElseThrow().outcome().orThrow().valid());
            }
            try (Session session = client.protocol().session()) {
                session.check(PING, Sender.CLIENT);
                session.finish();
            }
        }
    }

    @Test
    void aFunctionGivesTheTokenOfEachCall() throws Exception {
        try (Secured secured = start()) {
            var tokens = List.of("old", secured.validator(), "bad token").iterator();
            try (Client client = secured.client(PATIENT.withToken(tokens::next))) {
                var old = assertThrows(SidecheckException.class, () -> client.validate(OBJECT, LIST));
                assertEquals("UNAUTHENTICATED", old.reason());
                assertFalse(client.validate(OBJECT, LIST).valid());
                var bad = assertThrows(IllegalArgumentException.class, () -> client.validate(OBJECT, LIST));
                assertFalse(bad.getMessage().contains("bad token"));
            }
        }
    }

    @Test
    void aMissingOrWrongTokenOrRoleIsNoAbsence() throws Exception {
        try (Secured secured = start()) {
            assertRefused(secured, PATIENT, Status.Code.UNAUTHENTICATED);
            assertRefused(secured, PATIENT.withToken("sct_wrong"), Status.Code.UNAUTHENTICATED);
            assertRefused(secured, PATIENT.withToken(secured.registrar()), Status.Code.PERMISSION_DENIED);
        }
    }

    private static void assertRefused(Secured secured, ClientOptions options, Status.Code code) {
        try (Client client = secured.client(options)) {
            var error = assertThrows(SidecheckException.class, () -> client.validate(OBJECT, LIST));
            assertEquals(SidecheckException.class, error.getClass());
            assertEquals(code.name(), error.reason());
            assertEquals(code.name(), error.status());
            assertFalse(error.toString().contains("sct_"), error.toString());
        }
    }

    @Test
    void aStreamWhoseTokenWasReplacedIsClosed() throws Exception {
        try (Secured secured = start()) {
            // A stream asks for the limits of the server first.
            var tokens = List.of(secured.validator(), "old").iterator();
            try (Client client = secured.client(PATIENT.withToken(tokens::next));
                    ValidationStream stream = client.stream(OBJECT, null)) {
                var error = assertThrows(StreamClosedException.class, stream::receive);
                assertEquals("UNAUTHENTICATED", error.reason());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Status.Code.class,
            names = {"UNAUTHENTICATED", "PERMISSION_DENIED"})
    void refusalsAreNotRetriedAndAttemptsShareAToken(Status.Code code) throws Exception {
        List<String> headers = Collections.synchronizedList(new ArrayList<>());
        var key = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
        var refuse = new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata metadata, ServerCallHandler<Q, A> next) {
                headers.add(metadata.get(key));
                call.close(headers.size() == 1 ? Status.UNAVAILABLE : code.toStatus(), new Metadata());
                return new ServerCall.Listener<>() {};
            }
        };
        Server server = NettyServerBuilder.forPort(0)
                .addService(new InfoServiceGrpc.InfoServiceImplBase() {})
                .intercept(refuse)
                .build()
                .start();
        AtomicInteger asked = new AtomicInteger();
        var options = PATIENT.withToken(() -> "t" + asked.incrementAndGet());
        try (Client client = new Client("127.0.0.1:" + server.getPort(), options)) {
            var error = assertThrows(SidecheckException.class, client::info);
            assertEquals(code.name(), error.reason());
            assertEquals(List.of("Bearer t1", "Bearer t1"), headers);
        } finally {
            server.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1:1",
                "127.8.8.8:1",
                "[::1]:1",
                "[::ffff:127.0.0.1]:1",
                "LocalHost:1",
                "dns:///localhost:1",
                "unix:/run/sidecheck.sock"
            })
    void aTokenMayStayOnThisMachineWithoutTls(String address) {
        new Client(address, PATIENT.withToken("secret")).close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sidecheck:1",
                "dns:///sidecheck:1",
                "localhost.example:1",
                "127.0.0.1.example:1",
                "192.0.2.1:1",
                "[2001:db8::1]:1",
                "0.0.0.0:1"
            })
    void aTokenNeedsTlsBeyondThisMachine(String address) {
        ClientOptions options = PATIENT.withToken("secret");
        var error = assertThrows(IllegalArgumentException.class, () -> new Client(address, options));
        assertTrue(error.getMessage().contains("in plain text"), error.getMessage());
        assertFalse(error.getMessage().contains("secret"));
        new Client(address, options.withTokenWithoutTls(true)).close();
        new Client(address, options.withTls(Tls.SYSTEM)).close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "secret ", "secret\n", "a secret", "sécret", "secret\u007f"})
    void aMalformedTokenIsRejectedWithoutItsText(String token) {
        var error = assertThrows(IllegalArgumentException.class, () -> PATIENT.withToken(token));
        assertTrue(error.getMessage().contains("visible ASCII"), error.getMessage());
        assertFalse(error.getMessage().contains("cret"), error.getMessage());
    }

    @Test
    void noTextOfTheOptionsShowsTheToken() {
        for (ClientOptions options : List.of(PATIENT.withToken("secret"), PATIENT.withToken(() -> "secret"))) {
            assertFalse(options.toString().contains("secret"), options.toString());
        }
    }
}
