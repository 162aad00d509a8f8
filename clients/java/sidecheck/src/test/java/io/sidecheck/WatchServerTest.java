package io.sidecheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Watches of the server that {@code tests/conformance} starts. */
@Timeout(300)
class WatchServerTest {
    private static final String SERVER = "java-watch";

    /** By a checkpoint, a list, and the changes since. */
    @Test
    void mirrorsARegistry() throws Exception {
        try (Client client = Conformance.required().client("real");
                Watch watch = client.watch(List.of(SERVER), WatchOptions.DEFAULTS)) {
            Checkpoint begun = (Checkpoint) watch.receive().orElseThrow();
            client.register(SERVER, List.of(definition("a", "Old."), definition("b", "Deleted.")));
            client.register("java-watch-other", List.of(definition("c", "Of another server.")));
            Map<String, Tool> mirror = new TreeMap<>();
            client.list(SERVER, "").forEach(tool -> mirror.put(tool.name(), tool));
            client.delete(SERVER, List.of("b"));
            long last =
                    client.register(SERVER, List.of(definition("a", "New."))).registryRevision();

            List<ToolsChange> changes = new ArrayList<>();
            Checkpoint end = follow(watch, last, mirror, changes);
            assertEquals(Map.of("a", client.get(SERVER, "a", "")), mirror);
            assertEquals(
                    Set.of(SERVER), changes.stream().map(ToolsChange::server).collect(Collectors.toSet()));

            try (Watch again = client.watch(List.of(), WatchOptions.DEFAULTS.withAfter(begun))) {
                List<ToolsChange> all = new ArrayList<>();
                follow(again, end.revision(), new TreeMap<>(), all);
                all.removeIf(change -> !change.server().equals(SERVER));
                assertEquals(changes, all);
            }
            client.deleteAll(SERVER);
            client.deleteAll("java-watch-other");
        }
    }

    /** Applies changes until a checkpoint says that all up to a revision were told. */
    private static Checkpoint follow(Watch watch, long revision, Map<String, Tool> mirror, List<ToolsChange> changes) {
        for (WatchEvent event : watch) {
            if (event instanceof ToolsChange change) {
                changes.add(change);
                change.registered().forEach(tool -> mirror.put(tool.name(), tool));
                mirror.keySet().removeAll(change.deleted());
            } else if (event.checkpoint().revision() >= revision) {
                return event.checkpoint();
            }
        }
        throw new AssertionError("the watch ended");
    }

    @Test
    void failsForChangesThatAreNotKept() {
        var options = WatchOptions.DEFAULTS.withAfter(new Checkpoint(0, "of another registry"));
        try (Client client = Conformance.required().client("real");
                Watch watch = client.watch(List.of(SERVER), options)) {
            var error = assertThrows(SidecheckException.class, watch::receive);
            assertEquals("COMPACTED", error.reason());
        }
    }

    private static Target.ToolDefinition definition(String name, String description) {
        return new Target.ToolDefinition(
                Json.of(Map.of("name", name, "description", description, "inputSchema", Map.of("type", "object"))));
    }
}
