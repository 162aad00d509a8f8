package io.sidecheck;

import java.util.List;

/** A stream ended before all outcomes had arrived. */
public class StreamClosedException extends SidecheckException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> unanswered;

    StreamClosedException(SidecheckException cause, List<String> unanswered) {
        super(
                cause.getMessage() + " (items without an outcome: " + unanswered.size() + ")",
                cause.reason(),
                cause.description(),
                cause.metadata(),
                cause.code(),
                cause.retryAfter().orElse(null));
        this.unanswered = List.copyOf(unanswered);
    }

    /**
     * Returns the ids of the items without an outcome, in order. They are not retried; the caller
     * may send them again in another stream.
     *
     * @return the ids; empty after deserialization
     */
    public List<String> unanswered() {
        return unanswered == null ? List.of() : unanswered;
    }
}
