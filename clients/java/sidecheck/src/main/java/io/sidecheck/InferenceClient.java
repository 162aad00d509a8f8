package io.sidecheck;

import com.google.protobuf.ByteString;
import io.sidecheck.v1.AdaptToolRequest;
import io.sidecheck.v1.AdaptToolResponse;
import io.sidecheck.v1.InferToolsResponse;
import io.sidecheck.v1.InferenceServiceGrpc;
import java.time.Duration;

/**
 * Infers definitions from Python source text and adapts them to protocol versions: {@link
 * Client#inference}. The client's {@link OnUnavailable} does not apply.
 */
public final class InferenceClient {
    private final Connection connection;
    private final Duration timeout;

    InferenceClient(Connection connection, Duration timeout) {
        this.connection = connection;
        this.timeout = timeout;
    }

    /**
     * Infers the definitions of the tools in Python source text, which is parsed and never run.
     *
     * @param source the text, at most {@code Limits.sourceBytes}
     * @param options options
     * @return the tools, and diagnostics of what the text does not define
     * @throws SidecheckException with {@code FEATURE_DISABLED} if the server does not infer, or
     *     another reason if the call failed
     */
    public InferredTools inferTools(String source, InferenceOptions options) {
        InferToolsResponse response = connection.call(
                InferenceServiceGrpc.getInferToolsMethod(),
                options.encode().setSource(ByteString.copyFromUtf8(source)).build(),
                InferToolsResponse.getDefaultInstance(),
                timeout);
        return InferenceDecoders.inferredTools(response);
    }

    /**
     * Adapts a definition to a protocol version: before 2026-07-28 an output schema whose root is
     * not an object is wrapped in one.
     *
     * @param tool the tool
     * @param protocolVersion protocol version; "" is that of the client
     * @return the adapted definition
     * @throws SidecheckException if the call failed
     */
    public AdaptedTool adaptTool(Target tool, String protocolVersion) {
        return adaptTool(tool, protocolVersion, null);
    }

    /**
     * Adapts a definition to a protocol version, and rewrites it so that model APIs and clients
     * accept it as it is.
     *
     * @param tool the tool
     * @param protocolVersion protocol version; "" is that of the client
     * @param portable options of the portable form; null only adapts to the version
     * @return the adapted definition, with its losses and the mapping of its calls
     * @throws SidecheckException with {@code NOT_CONVERTIBLE} if there is no such form, or another
     *     reason if the call failed
     */
    public AdaptedTool adaptTool(Target tool, String protocolVersion, Portability portable) {
        var request = AdaptToolRequest.newBuilder()
                .setTool(ValidationMessages.target(tool))
                .setProtocolVersion(protocolVersion.isEmpty() ? connection.options.protocolVersion() : protocolVersion)
                .setMinRevision(connection.minRevision);
        if (portable != null) {
            request.setPortable(io.sidecheck.v1.Portability.newBuilder()
                    .addAllTargets(portable.targets())
                    .setProve(portable.prove()));
        }
        AdaptToolResponse response = connection.call(
                InferenceServiceGrpc.getAdaptToolMethod(),
                request.build(),
                AdaptToolResponse.getDefaultInstance(),
                timeout);
        return InferenceDecoders.adaptedTool(response);
    }
}
