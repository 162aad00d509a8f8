package io.sidecheck;

import java.util.List;

/**
 * All that one revision of the registry changed, in the namespace of one server.
 *
 * @param revision revision since which the change holds
 * @param id identity of the change
 * @param server namespace of the server
 * @param registered tools that were registered, or replaced another of their name, by name
 * @param deleted names that are registered no longer, in order
 */
public record ToolsChange(long revision, String id, String server, List<Tool> registered, List<String> deleted)
        implements WatchEvent {
    @Override
    public Checkpoint checkpoint() {
        return new Checkpoint(revision, id);
    }
}
