package io.sidecheck;

import java.util.List;
import java.util.function.Function;

/** Decoding of the messages of responses. */
final class Messages {
    private Messages() {}

    static <M, V> List<V> decodeAll(List<M> messages, Function<M, V> decode) {
        return messages.stream().map(decode).toList();
    }
}
