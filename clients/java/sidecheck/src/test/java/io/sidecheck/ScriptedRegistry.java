package io.sidecheck;

import com.google.protobuf.Any;
import com.google.rpc.RetryInfo;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import io.sidecheck.v1.RegistryServiceGrpc;
import io.sidecheck.v1.WatchToolsRequest;
import io.sidecheck.v1.WatchToolsResponse;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A server in this process, whose watches have the steps of a script, one list for each. */
final class ScriptedRegistry extends RegistryServiceGrpc.RegistryServiceImplBase implements AutoCloseable {
    final List<WatchToolsRequest> requests = new CopyOnWriteArrayList<>();
    private final Queue<List<Step>> streams;
    private final Server server;

    /** What a stream does next. One that does not end it last leaves it open. */
    interface Step extends Consumer<StreamObserver<WatchToolsResponse>> {}

    ScriptedRegistry(int port, List<List<Step>> streams) throws IOException {
        this.streams = new ArrayDeque<>(streams);
        this.server = NettyServerBuilder.forPort(port).addService(this).build().start();
    }

    static Step respond(WatchToolsResponse response) {
        return responses -> responses.onNext(response);
    }

    static Step end() {
        return StreamObserver::onCompleted;
    }

    static Step fail(Status.Code code) {
        return responses ->
                responses.onError(code.toStatus().withDescription("scripted").asRuntimeException());
    }

    /** Fails, and asks for a pause. */
    static Step failFor(long seconds) {
        var delay = com.google.protobuf.Duration.newBuilder().setSeconds(seconds);
        var status = com.google.rpc.Status.newBuilder()
                .setCode(Status.Code.UNAVAILABLE.value())
                .addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(delay).build()));
        return responses -> responses.onError(StatusProto.toStatusRuntimeException(status.build()));
    }

    int port() {
        return server.getPort();
    }

    Client client() {
        return new Client("127.0.0.1:" + port());
    }

    @Override
    public synchronized void watchTools(WatchToolsRequest request, StreamObserver<WatchToolsResponse> responses) {
        requests.add(request);
        List<Step> steps = streams.poll();
        // An error that ends the watch.
        List<Step> rest = steps == null ? List.of(fail(Status.Code.DATA_LOSS)) : steps;
        rest.forEach(step -> step.accept(responses));
    }

    @Override
    public void close() {
        try {
            server.shutdownNow().awaitTermination();
        } catch (InterruptedException error) {
            throw new AssertionError(error);
        }
    }
}
