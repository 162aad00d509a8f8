package io.sidecheck;

/**
 * A payload is invalid. Thrown only by {@link Verdict#orThrow}. The message contains values of the
 * payload, unless {@link ValidationOptions#hideValues} was set.
 */
public final class InvalidPayloadException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Verdict verdict;

    InvalidPayloadException(Verdict verdict) {
        super(Texts.list("the payload is invalid", Texts.errors(verdict.violations()), verdict.truncated()));
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
