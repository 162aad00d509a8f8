package io.sidecheck;

import java.util.Objects;

/**
 * A revision of the registry up to which all changes were told.
 *
 * @param revision the revision
 * @param id identity of the change that led to the revision; "" if it is not known
 */
public record Checkpoint(long revision, String id) implements WatchEvent {
    /**
     * Checks the arguments.
     *
     * @param revision the revision
     * @param id identity of the change that led to it, or ""
     * @throws NullPointerException if the id is null
     */
    public Checkpoint {
        Objects.requireNonNull(id, "id");
    }

    @Override
    public Checkpoint checkpoint() {
        return this;
    }
}
