package io.sidecheck;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.sidecheck.v1.CheckOutcome;
import io.sidecheck.v1.CheckSessionRequest;
import io.sidecheck.v1.CheckSessionResponse;
import io.sidecheck.v1.GetServerInfoRequest;
import io.sidecheck.v1.GetServerInfoResponse;
import io.sidecheck.v1.InfoServiceGrpc;
import io.sidecheck.v1.Limits;
import io.sidecheck.v1.ProtocolServiceGrpc;
import io.sidecheck.v1.ValidateOutcome;
import io.sidecheck.v1.ValidateStreamRequest;
import io.sidecheck.v1.ValidateStreamResponse;
import io.sidecheck.v1.ValidationServiceGrpc;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/** A server of streams in this process. It finds each item valid, or does what a test sets. */
final class FakeServer implements AutoCloseable {
    private static final io.sidecheck.v1.Verdict VALID =
            io.sidecheck.v1.Verdict.newBuilder().setValid(true).build();

    final CountDownLatch cancelled = new CountDownLatch(1);

    /** Whether items get no responses. */
    volatile boolean silent;

    /** Id of all responses, or null for those of the items. */
    volatile String wrongId;

    private final Server server;

    FakeServer() throws IOException {
        server = NettyServerBuilder.forPort(0)
                .addService(new Info())
                .addService(new Validation())
                .addService(new Protocol())
                .build()
                .start();
    }

    String address() {
        return "127.0.0.1:" + server.getPort();
    }

    void kill() {
        server.shutdownNow();
    }

    @Override
    public void close() {
        kill();
    }

    private static final class Info extends InfoServiceGrpc.InfoServiceImplBase {
        @Override
        public void getServerInfo(GetServerInfoRequest request, StreamObserver<GetServerInfoResponse> responses) {
            responses.onNext(GetServerInfoResponse.newBuilder()
                    .setLimits(Limits.newBuilder().setMessageBytes(1000).setBatchItems(10))
                    .build());
            responses.onCompleted();
        }
    }

    private final class Validation extends ValidationServiceGrpc.ValidationServiceImplBase {
        @Override
        public StreamObserver<ValidateStreamRequest> validateStream(StreamObserver<ValidateStreamResponse> responses) {
            return new Requests<>() {
                @Override
                public void onNext(ValidateStreamRequest request) {
                    if (!silent && request.hasItem()) {
                        responses.onNext(ValidateStreamResponse.newBuilder()
                                .setId(wrongId == null ? request.getItem().getId() : wrongId)
                                .setOutcome(ValidateOutcome.newBuilder().setVerdict(VALID))
                                .build());
                    }
                }

                @Override
                public void onCompleted() {
                    responses.onCompleted();
                }
            };
        }
    }

    /** Ends sessions without a summary. */
    private final class Protocol extends ProtocolServiceGrpc.ProtocolServiceImplBase {
        @Override
        public StreamObserver<CheckSessionRequest> checkSession(StreamObserver<CheckSessionResponse> responses) {
            return new Requests<>() {
                @Override
                public void onNext(CheckSessionRequest request) {
                    if (!silent && request.hasItem()) {
                        responses.onNext(CheckSessionResponse.newBuilder()
                                .setId(request.getItem().getId())
                                .setOutcome(CheckOutcome.newBuilder()
                                        .setResult(io.sidecheck.v1.CheckResult.newBuilder()
                                                .setVerdict(VALID)))
                                .build());
                    }
                }

                @Override
                public void onCompleted() {
                    responses.onCompleted();
                }
            };
        }
    }

    private abstract class Requests<T> implements StreamObserver<T> {
        @Override
        public void onError(Throwable error) {
            cancelled.countDown();
        }
    }
}
