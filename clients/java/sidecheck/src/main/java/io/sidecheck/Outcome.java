package io.sidecheck;

/**
 * Outcome of one item of a batch or stream: a value or an error.
 *
 * @param <T> type of the value, for example {@link Verdict}
 */
public sealed interface Outcome<T> {
    /**
     * Returns the value.
     *
     * @return the value
     * @throws SidecheckException the error of the item, if it has one
     */
    T orThrow();

    /**
     * An item with a result.
     *
     * @param value the result
     * @param <T> type of the result
     */
    record Success<T>(T value) implements Outcome<T> {
        @Override
        public T orThrow() {
            return value;
        }
    }

    /**
     * An item for which no result was possible.
     *
     * @param error the reason
     * @param <T> type of the result that is missing
     */
    record Failure<T>(SidecheckException error) implements Outcome<T> {
        @Override
        public T orThrow() {
            throw error;
        }
    }
}
