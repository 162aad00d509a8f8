package io.sidecheck;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Bearer token of a client's calls (RFC 6750): a text, or what supplies that of each call. */
public final class Token {
    private static final Pattern VISIBLE_ASCII = Pattern.compile("[\\x21-\\x7e]+");
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Supplier<String> header;

    private Token(Supplier<String> header) {
        this.header = header;
    }

    /**
     * A token that is the same for all calls.
     *
     * @param token one or more visible ASCII characters
     * @return the token
     * @throws IllegalArgumentException if it has other characters; the message does not show it
     */
    public static Token of(String token) {
        String header = bearer(token);
        return new Token(() -> header);
    }

    /**
     * A token that may change. A call for which it is malformed throws {@link
     * IllegalArgumentException}.
     *
     * @param token is called for each call and stream, by any thread, and must not block
     * @return the token
     */
    public static Token from(Supplier<String> token) {
        Objects.requireNonNull(token, "token");
        return new Token(() -> bearer(token.get()));
    }

    private static String bearer(String token) {
        Objects.requireNonNull(token, "token");
        if (!VISIBLE_ASCII.matcher(token).matches()) {
            throw new IllegalArgumentException("token must have one or more visible ASCII characters, and no spaces");
        }
        return "Bearer " + token;
    }

    /** Returns what adds this token to calls. The attempts of one call have the same. */
    ClientInterceptor interceptor() {
        return new ClientInterceptor() {
            @Override
            public <Q, A> ClientCall<Q, A> interceptCall(
                    MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
                // Here, so that what the supplier throws leaves no call behind.
                String value = header.get();
                return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                    @Override
                    public void start(Listener<A> listener, Metadata headers) {
                        headers.put(AUTHORIZATION, value);
                        super.start(listener, headers);
                    }
                };
            }
        };
    }

    /** Returns a text without the token. */
    @Override
    public String toString() {
        return "Token[...]";
    }
}
