package io.sidecheck;

import java.util.stream.Collectors;

/**
 * A payload is invalid. Thrown only by {@link Verdict#orThrow}. The message contains values of the
 * payload, unless {@link ValidationOptions#hideValues} was set.
 */
public final class InvalidPayloadException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int MAX_LINES = 10;

    private final transient Verdict verdict;

    InvalidPayloadException(Verdict verdict) {
        super(verdict.violations().stream()
                .filter(violation -> violation.severity() == Severity.ERROR)
                .limit(MAX_LINES)
                .map(Violation::toString)
                .collect(Collectors.joining("; ", "the payload is invalid: ", "")));
        this.verdict = verdict;
    }

    /**
     * Returns the verdict on the payload.
     *
     * @return the verdict; null after deserialization
     */
    public Verdict verdict() {
        return verdict;
    }
}
