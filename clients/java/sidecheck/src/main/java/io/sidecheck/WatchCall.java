package io.sidecheck;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.sidecheck.v1.RegistryServiceGrpc;
import io.sidecheck.v1.WatchToolsRequest;
import io.sidecheck.v1.WatchToolsResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

/** One call of WatchTools. At most one response is requested and not received. */
final class WatchCall extends ClientCall.Listener<ByteString> {
    private final Connection connection;
    private final ClientCall<WatchToolsRequest, ByteString> call;

    /** What receiving returns: a response, or the end of the call, which may be an error. */
    private final BlockingQueue<Supplier<Optional<ByteString>>> received = new LinkedBlockingQueue<>();

    /** Responses of a change that has more of them. */
    private final List<io.sidecheck.v1.ToolsChange> parts = new ArrayList<>();

    private WatchCall(Connection connection, ClientCall<WatchToolsRequest, ByteString> call) {
        this.connection = connection;
        this.call = call;
    }

    static WatchCall open(Connection connection, WatchToolsRequest request) {
        if (connection.isClosed()) {
            throw Errors.clientClosed();
        }
        connection.reconnect();
        // The listener never blocks.
        CallOptions options = CallOptions.DEFAULT.withExecutor(Runnable::run);
        WatchCall opened = new WatchCall(
                connection,
                connection.channel.newCall(UnaryCall.leavingBytes(RegistryServiceGrpc.getWatchToolsMethod()), options));
        opened.call.start(opened, new Metadata());
        opened.call.sendMessage(request);
        opened.call.halfClose();
        opened.call.request(1);
        return opened;
    }

    /** Returns the next event, and waits for it; empty if the server ended the call well. */
    Optional<WatchEvent> receive() throws InterruptedException {
        while (true) {
            Optional<ByteString> bytes = received.take().get();
            if (bytes.isEmpty()) {
                return Optional.empty();
            }
            call.request(1);
            var response = UnaryCall.parse(bytes.get(), WatchToolsResponse.getDefaultInstance());
            if (response.hasCheckpoint()) {
                return Optional.of(RegistryMessages.checkpoint(response.getCheckpoint()));
            }
            if (!response.hasChange()) {
                throw new InvalidResponseException("WatchToolsResponse has neither a change nor a checkpoint");
            }
            parts.add(response.getChange());
            if (!response.getChange().getContinued()) {
                ToolsChange change = RegistryMessages.change(parts);
                parts.clear();
                return Optional.of(change);
            }
        }
    }

    /** Ends the call, and wakes the thread that waits. */
    void cancel() {
        call.cancel("the watch was left", null);
    }

    @Override
    public void onMessage(ByteString message) {
        received.add(() -> Optional.of(message));
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        received.add(() -> {
            if (status.isOk()) {
                return Optional.empty();
            }
            throw connection.isClosed() ? Errors.clientClosed() : Errors.ofCall(status, trailers, connection.peer);
        });
    }
}
