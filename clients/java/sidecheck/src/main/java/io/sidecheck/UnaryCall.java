package io.sidecheck;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One call with one response. Responses are decoded here and not by gRPC, which would report one
 * that does not decode, or none, as {@code INTERNAL}, like an error of a server.
 */
final class UnaryCall extends ClientCall.Listener<ByteString> {
    private final CompletableFuture<ByteString> result = new CompletableFuture<>();
    private final Peer peer;
    private ByteString response;

    private UnaryCall(Peer peer) {
        this.peer = peer;
    }

    static <Q extends Message, A extends Message> A send(
            Connection connection, MethodDescriptor<Q, A> method, Q request, A answer, Duration timeout) {
        // A response that is fast enough would hide it.
        if (Thread.interrupted()) {
            throw interrupted(new InterruptedException());
        }
        ClientCall<Q, ByteString> call = connection.channel.newCall(
                leavingBytes(method),
                CallOptions.DEFAULT
                        .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
                        .withStreamTracerFactory(connection.attempts)
                        // The listener never blocks.
                        .withExecutor(Runnable::run));
        UnaryCall listener = new UnaryCall(connection.peer);
        call.start(listener, new Metadata());
        call.sendMessage(request);
        call.halfClose();
        call.request(2);
        try {
            return parse(listener.result.get(), answer);
        } catch (InterruptedException interrupt) {
            call.cancel("interrupted", interrupt);
            throw interrupted(interrupt);
        } catch (ExecutionException failure) {
            throw (RuntimeException) failure.getCause();
        }
    }

    @SuppressWarnings("unchecked")
    static <A extends Message> A parse(ByteString bytes, A answer) {
        try {
            return (A) answer.getParserForType().parseFrom(bytes);
        } catch (InvalidProtocolBufferException error) {
            throw new InvalidResponseException("the response, of " + bytes.size() + " bytes, does not decode");
        }
    }

    static <Q, A> MethodDescriptor<Q, ByteString> leavingBytes(MethodDescriptor<Q, A> method) {
        return method.toBuilder(method.getRequestMarshaller(), BytesMarshaller.INSTANCE)
                .build();
    }

    /** Returns what a thread gets that was interrupted, and leaves it interrupted. */
    static CancellationException interrupted(InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        return cancelled(interrupt);
    }

    static CancellationException cancelled(Throwable cause) {
        CancellationException error = new CancellationException("the call was cancelled");
        error.initCause(cause);
        return error;
    }

    @Override
    public void onMessage(ByteString message) {
        peer.noteResponse();
        response = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        if (!status.isOk()) {
            result.completeExceptionally(
                    status.getCode() == Status.Code.CANCELLED
                                    && Context.current().isCancelled()
                            ? cancelled(status.getCause())
                            : Errors.ofCall(status, trailers, peer));
        } else if (response == null) {
            result.completeExceptionally(
                    new InvalidResponseException("the call ended without an error and without a response"));
        } else {
            result.complete(response);
        }
    }

    /** Leaves responses as bytes. */
    private enum BytesMarshaller implements MethodDescriptor.Marshaller<ByteString> {
        INSTANCE;

        @Override
        public InputStream stream(ByteString value) {
            return value.newInput();
        }

        @Override
        public ByteString parse(InputStream stream) {
            try {
                return ByteString.readFrom(stream);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}
