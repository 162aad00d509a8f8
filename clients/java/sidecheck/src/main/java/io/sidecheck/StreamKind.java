package io.sidecheck;

import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;

/**
 * A kind of stream, which translates its items and responses.
 *
 * @param <I> type of the items
 * @param <Q> type of the requests
 * @param <A> type of the responses
 * @param <T> type of the results
 */
interface StreamKind<I, Q extends Message, A extends Message, T> {
    MethodDescriptor<Q, A> method();

    /** The default instance of the responses. */
    A response();

    /** The request for an item, or for an id alone if the item is null. */
    Q request(String id, I item);

    /** The id of the item of a response, "" where the server could not read it. */
    String id(A response);

    Outcome<T> outcome(A response);

    /** Whether a response is to the whole stream and not to an item. */
    default boolean isSummary(A response) {
        return false;
    }
}
