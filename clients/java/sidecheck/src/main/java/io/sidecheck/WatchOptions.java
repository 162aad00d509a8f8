package io.sidecheck;

import java.time.Duration;

/**
 * Options of a watch.
 *
 * @param after position of an earlier event, after which changes are told; null begins with a
 *     checkpoint of what is registered now
 * @param patience time without an event after which a lost connection is not made again
 */
public record WatchOptions(Checkpoint after, Duration patience) {
    /** From now on, with a patience of 60 s. */
    public static final WatchOptions DEFAULTS = new WatchOptions(null, Duration.ofSeconds(60));

    /**
     * Checks the arguments.
     *
     * @param after position of an earlier event, or null
     * @param patience time without an event after which a lost connection is not made again
     * @throws IllegalArgumentException if the patience is not positive
     */
    public WatchOptions {
        if (patience.isNegative() || patience.isZero()) {
            throw new IllegalArgumentException("patience must be positive, not " + patience);
        }
    }

    /**
     * Returns these options with another beginning.
     *
     * @param value position of an earlier event; null is now
     * @return the options
     */
    public WatchOptions withAfter(Checkpoint value) {
        return new WatchOptions(value, patience);
    }

    /**
     * Returns these options with another patience.
     *
     * @param value time without an event after which a lost connection is not made again
     * @return the options
     * @throws IllegalArgumentException if it is not positive
     */
    public WatchOptions withPatience(Duration value) {
        return new WatchOptions(after, value);
    }
}
