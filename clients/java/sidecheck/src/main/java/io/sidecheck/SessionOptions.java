package io.sidecheck;

/**
 * Options of a session.
 *
 * @param fromBeginning whether the first message to check is the first of the session; otherwise,
 *     rules that need the whole session are not applied
 * @param outstanding most messages that are pending; further threads wait
 */
public record SessionOptions(boolean fromBeginning, int outstanding) {
    /** From the beginning, with at most 64 messages pending. */
    public static final SessionOptions DEFAULTS = new SessionOptions(true, 64);

    /**
     * Checks the arguments.
     *
     * @param fromBeginning whether the first message to check is the first of the session
     * @param outstanding most messages that are pending
     * @throws IllegalArgumentException if {@code outstanding} is not positive
     */
    public SessionOptions {
        if (outstanding < 1) {
            throw new IllegalArgumentException("outstanding must be positive, not " + outstanding);
        }
    }
}
