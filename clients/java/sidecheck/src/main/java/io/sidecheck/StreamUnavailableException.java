package io.sidecheck;

import java.util.List;

/**
 * A stream ended because its server stopped, was lost or did not respond in time. It is thrown
 * whatever {@link OnUnavailable} is: only the caller can decide about the remaining items.
 */
public final class StreamUnavailableException extends StreamClosedException {
    private static final long serialVersionUID = 1L;

    StreamUnavailableException(SidecheckException cause, List<String> unanswered) {
        super(cause, unanswered);
    }
}
