package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What {@code tests/conformance} has started; without it, the tests that need it are skipped.
 *
 * @param settings addresses and paths
 */
public record Conformance(JsonNode settings) {
    static final JsonMapper MAPPER = new JsonMapper();

    public static Conformance required() {
        String path = System.getenv("SIDECHECK_CONFORMANCE");
        String reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance";
        if ("1".equals(System.getenv("SIDECHECK_REQUIRE_ALL"))) {
            assertTrue(path != null, reason);
        }
        assumeTrue(path != null, reason);
        return new Conformance(MAPPER.readTree(Path.of(path)));
    }

    Path path(String name) {
        return Path.of(settings.get(name).asString());
    }

    public String address(String server) {
        return settings.get("servers").get(server).asString();
    }

    Tls tls() {
        return tls("");
    }

    /** TLS with a fault: {@code authority} or {@code name}; "" is none. */
    Tls tls(String fault) {
        JsonNode paths = settings.get("tls");
        return new Tls(
                Path.of(paths.get(fault.equals("authority") ? "other_ca" : "ca").asString()),
                Path.of(paths.get("certificate").asString()),
                Path.of(paths.get("key").asString()),
                fault.equals("name") ? "elsewhere.example" : "");
    }

    /** A client with a deadline that does not depend on how busy the machine is. */
    public Client client(String server) {
        return new Client(address(server), ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(120)));
    }
}
