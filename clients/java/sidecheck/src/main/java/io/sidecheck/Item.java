package io.sidecheck;

/**
 * One payload of a batch or stream, with its own target and options if any.
 *
 * @param subject the payload
 * @param target replaces the target of the batch; null keeps it
 * @param options replace the options of the batch as a whole; null keeps them
 */
public record Item(Subject subject, Target target, ValidationOptions options) {
    /**
     * An item with the target and options of the batch.
     *
     * @param subject the payload
     */
    public Item(Subject subject) {
        this(subject, null, null);
    }

    /**
     * An item with the options of the batch.
     *
     * @param subject the payload
     * @param target what to validate against
     */
    public Item(Subject subject, Target target) {
        this(subject, target, null);
    }
}
