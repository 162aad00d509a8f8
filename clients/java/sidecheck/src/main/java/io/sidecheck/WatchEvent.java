package io.sidecheck;

/** What a {@link Watch} yields. */
public sealed interface WatchEvent permits ToolsChange, Checkpoint {
    /**
     * Returns the position after the event, which {@link WatchOptions#after} takes.
     *
     * @return the position
     */
    Checkpoint checkpoint();
}
