package io.sidecheck;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import tools.jackson.databind.JsonNode;

/**
 * A real server in a process of its own. Its output is read, so that it is never held up by it.
 *
 * @param process the process
 * @param port port that it listens on
 */
public record RunningServer(Process process, int port) implements AutoCloseable {
    /** Starts a server with more environment variables; port 0 is any free one. */
    public static RunningServer start(Conformance conformance, int port, Map<String, String> environment)
            throws Exception {
        List<String> command = new ArrayList<>();
        conformance.settings().get("serve").forEach(word -> command.add(word.asString()));
        command.addAll(List.of("--listen", "127.0.0.1:" + port));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        Process process = builder.start();
        CompletableFuture<Integer> ready = new CompletableFuture<>();
        Thread reader = new Thread(() -> read(process.errorReader(), ready));
        reader.setDaemon(true);
        reader.start();
        return new RunningServer(process, ready.get());
    }

    private static void read(BufferedReader lines, CompletableFuture<Integer> ready) {
        try (lines) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.contains("\"server.ready\"")) {
                    JsonNode addresses = Conformance.MAPPER.readTree(line).get("addresses");
                    String address = addresses.get(0).asString();
                    ready.complete(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
                }
            }
            ready.completeExceptionally(new IOException("the server ended before it was ready"));
        } catch (IOException error) {
            ready.completeExceptionally(new UncheckedIOException(error));
        }
    }

    public String address() {
        return "127.0.0.1:" + port;
    }

    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
