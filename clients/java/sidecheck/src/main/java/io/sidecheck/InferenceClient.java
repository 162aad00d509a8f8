package io.sidecheck;

import com.google.protobuf.ByteString;
import io.sidecheck.v1.AdaptToolRequest;
import io.sidecheck.v1.AdaptToolResponse;
import io.sidecheck.v1.InferToolsRequest;
import io.sidecheck.v1.InferToolsResponse;
import io.sidecheck.v1.InferenceServiceGrpc;
import io.sidecheck.v1.OnUnsupported;
import io.sidecheck.v1.PortabilityProof;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
                InferToolsRequest.newBuilder()
                        .setSource(ByteString.copyFromUtf8(source))
                        .addAllFunctions(options.functions())
                        .setOnUnsupported(OnUnsupported.valueOf("ON_UNSUPPORTED_" + options.onUnsupported()))
                        .addAllInjectedTypes(options.injectedTypes())
                        .addAllInjectedParameters(options.injectedParameters())
                        .build(),
                InferToolsResponse.getDefaultInstance(),
                timeout);
        return new InferredTools(
                response.getToolsList().stream()
                        .map(tool -> new InferredTools.Inferred(
                                ProtocolMessages.requiredJson(tool.getJson(), "InferredTool.json"),
                                tool.getFunction(),
                                tool.getLine(),
                                tool.getDefinitionDigest()))
                        .toList(),
                response.getDiagnosticsList().stream()
                        .map(diagnostic -> new InferredTools.Diagnostic(
                                diagnostic.getCode(),
                                VerdictDecoders.severity(diagnostic.getSeverity()),
                                diagnostic.getMessage(),
                                diagnostic.getLine(),
                                diagnostic.getColumn(),
                                diagnostic.getEndLine(),
                                diagnostic.getEndColumn(),
                                diagnostic.getFunction(),
                                diagnostic.getParameter()))
                        .toList());
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
        return new AdaptedTool(
                ProtocolMessages.requiredJson(response.getJson(), "AdaptToolResponse.json"),
                response.getWrappedProperty(),
                List.copyOf(response.getDroppedPropertiesList()),
                response.hasPortable() ? Optional.of(portableForm(response.getPortable())) : Optional.empty());
    }

    private static PortableForm portableForm(io.sidecheck.v1.PortableForm message) {
        return new PortableForm(
                ProtocolMessages.requiredJson(message.getMapping(), "PortableForm.mapping"),
                ConversionMessages.losses(message.getLossesList()),
                ConversionMessages.effect(message.getEffect()),
                message.hasProof() ? Optional.of(proof(message.getProof())) : Optional.empty());
    }

    private static PortableForm.Proof proof(PortabilityProof message) {
        return new PortableForm.Proof(
                outcome(message.getOutcome()),
                message.getMessage(),
                message.hasWitness()
                        ? Optional.of(ComparisonDecoders.witness(message.getWitness()))
                        : Optional.empty());
    }

    private static PortableForm.Outcome outcome(PortabilityProof.Outcome outcome) {
        return switch (outcome) {
            case OUTCOME_EQUIVALENT -> PortableForm.Outcome.EQUIVALENT;
            case OUTCOME_WIDER -> PortableForm.Outcome.WIDER;
            case OUTCOME_UNDECIDED -> PortableForm.Outcome.UNDECIDED;
            case OUTCOME_NARROWER -> PortableForm.Outcome.NARROWER;
            default -> PortableForm.Outcome.UNSPECIFIED;
        };
    }
}
