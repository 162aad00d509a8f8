package io.sidecheck;

import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.sidecheck.v1.CheckBatchRequest;
import io.sidecheck.v1.CheckBatchResponse;
import io.sidecheck.v1.CheckElicitationRequest;
import io.sidecheck.v1.CheckElicitationResponse;
import io.sidecheck.v1.CheckElicitationResultRequest;
import io.sidecheck.v1.CheckElicitationResultResponse;
import io.sidecheck.v1.CheckMessageRequest;
import io.sidecheck.v1.CheckMessageResponse;
import io.sidecheck.v1.CheckSamplingRequest;
import io.sidecheck.v1.CheckSamplingResponse;
import io.sidecheck.v1.CheckSessionRequest;
import io.sidecheck.v1.CheckToolNamesRequest;
import io.sidecheck.v1.CheckToolNamesResponse;
import io.sidecheck.v1.CheckToolResultRequest;
import io.sidecheck.v1.CheckToolResultResponse;
import io.sidecheck.v1.CheckToolsRequest;
import io.sidecheck.v1.CheckToolsResponse;
import io.sidecheck.v1.ListRulesRequest;
import io.sidecheck.v1.ListRulesResponse;
import io.sidecheck.v1.NormalizeToolResultRequest;
import io.sidecheck.v1.NormalizeToolResultResponse;
import io.sidecheck.v1.ProtocolContext;
import io.sidecheck.v1.ProtocolServiceGrpc;
import io.sidecheck.v1.SessionDefaults;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** The calls of ProtocolService. */
record ProtocolCalls(
        Connection connection, Duration timeout, ProtocolContext context, io.sidecheck.v1.CheckOptions options) {
    CheckResult check(CheckItem item) {
        return connection.orFallBack(() -> send(ProtocolMessages.item(item)), ProtocolCalls::fallback);
    }

    private CheckResult send(io.sidecheck.v1.CheckItem item) {
        return switch (item.getItemCase()) {
            case ELICITATION ->
                send(
                        ProtocolServiceGrpc.getCheckElicitationMethod(),
                        CheckElicitationRequest.newBuilder()
                                .setContext(context)
                                .setOptions(options)
                                .setElicitation(item.getElicitation())
                                .build(),
                        CheckElicitationResponse.getDefaultInstance(),
                        CheckElicitationResponse::hasResult,
                        CheckElicitationResponse::getResult);
            case ELICITATION_RESULT ->
                send(
                        ProtocolServiceGrpc.getCheckElicitationResultMethod(),
                        CheckElicitationResultRequest.newBuilder()
                                .setContext(context)
                                .setOptions(options)
                                .setElicitationResult(item.getElicitationResult())
                                .build(),
                        CheckElicitationResultResponse.getDefaultInstance(),
                        CheckElicitationResultResponse::hasResult,
                        CheckElicitationResultResponse::getResult);
            case SAMPLING ->
                send(
                        ProtocolServiceGrpc.getCheckSamplingMethod(),
                        CheckSamplingRequest.newBuilder()
                                .setContext(context)
                                .setOptions(options)
                                .setSampling(item.getSampling())
                                .build(),
                        CheckSamplingResponse.getDefaultInstance(),
                        CheckSamplingResponse::hasResult,
                        CheckSamplingResponse::getResult);
            case TOOL_RESULT ->
                send(
                        ProtocolServiceGrpc.getCheckToolResultMethod(),
                        CheckToolResultRequest.newBuilder()
                                .setContext(context)
                                .setOptions(options)
                                .setToolResult(item.getToolResult())
                                .setMinRevision(connection.minRevision)
                                .build(),
                        CheckToolResultResponse.getDefaultInstance(),
                        CheckToolResultResponse::hasResult,
                        CheckToolResultResponse::getResult);
            case MESSAGE, ITEM_NOT_SET ->
                send(
                        ProtocolServiceGrpc.getCheckMessageMethod(),
                        CheckMessageRequest.newBuilder()
                                .setContext(context)
                                .setOptions(options)
                                .setMessage(item.getMessage())
                                .build(),
                        CheckMessageResponse.getDefaultInstance(),
                        CheckMessageResponse::hasResult,
                        CheckMessageResponse::getResult);
        };
    }

    private <Q extends Message, A extends Message> CheckResult send(
            MethodDescriptor<Q, A> method,
            Q request,
            A answer,
            Predicate<A> hasResult,
            Function<A, io.sidecheck.v1.CheckResult> result) {
        A response = connection.call(method, request, answer, timeout);
        return ProtocolMessages.result(hasResult.test(response), result.apply(response));
    }

    List<Outcome<CheckResult>> checkBatch(List<? extends CheckItem> items) {
        CheckBatchRequest empty = CheckBatchRequest.newBuilder()
                .setContext(context)
                .setOptions(options)
                .setMinRevision(connection.minRevision)
                .build();
        return connection.callInParts(
                items.stream().map(ProtocolMessages::item).toList(),
                empty.getSerializedSize(),
                part -> connection
                        .call(
                                ProtocolServiceGrpc.getCheckBatchMethod(),
                                empty.toBuilder().addAllItems(part).build(),
                                CheckBatchResponse.getDefaultInstance(),
                                timeout)
                        .getOutcomesList()
                        .stream()
                        .map(ProtocolMessages::outcome)
                        .toList(),
                ProtocolCalls::fallback,
                timeout);
    }

    private static CheckResult fallback(Verdict verdict) {
        return new CheckResult(verdict, Json.EMPTY);
    }

    CheckedNames checkNames(List<String> names) {
        return ProtocolMessages.names(
                connection.call(
                        ProtocolServiceGrpc.getCheckToolNamesMethod(),
                        CheckToolNamesRequest.newBuilder()
                                .setContext(context)
                                .setOptions(options)
                                .addAllNames(names)
                                .build(),
                        CheckToolNamesResponse.getDefaultInstance(),
                        timeout),
                names.size());
    }

    CheckedTools checkTools(Json toolsList, List<Document> documents) {
        // protoc adds the field numbers, because the accessors of the two fields would collide.
        return checkTools(CheckToolsRequest.newBuilder()
                .setToolsList3(toolsList.raw())
                .addAllDocuments(ValidationMessages.documents(documents)));
    }

    CheckedTools checkDefinitions(List<Target.ToolDefinition> definitions) {
        CheckedTools checked = checkTools(CheckToolsRequest.newBuilder()
                .addAllTools4(
                        definitions.stream().map(ValidationMessages::inlineTool).toList()));
        Errors.requireCount(checked.outcomes().size(), definitions.size(), "CheckToolsResponse.outcomes");
        return checked;
    }

    private CheckedTools checkTools(CheckToolsRequest.Builder request) {
        return ProtocolMessages.tools(connection.call(
                ProtocolServiceGrpc.getCheckToolsMethod(),
                request.setContext(context).setOptions(options).build(),
                CheckToolsResponse.getDefaultInstance(),
                timeout));
    }

    NormalizedResult normalizeToolResult(ReturnValue returned, Target tool, ResultProfile profile) {
        var request = NormalizeToolResultRequest.newBuilder()
                .setContext(context)
                .setOptions(options)
                .setProfile(ProtocolMessages.profile(profile))
                .setMinRevision(connection.minRevision);
        ProtocolMessages.returned(request, returned);
        if (tool != null) {
            request.setTool(ValidationMessages.target(tool));
        }
        return ProtocolMessages.normalized(connection.call(
                ProtocolServiceGrpc.getNormalizeToolResultMethod(),
                request.build(),
                NormalizeToolResultResponse.getDefaultInstance(),
                timeout));
    }

    Iterable<Rule> listRules(String protocolVersion) {
        return new Pages<>(token -> {
            ListRulesResponse response = connection.call(
                    ProtocolServiceGrpc.getListRulesMethod(),
                    ListRulesRequest.newBuilder()
                            .setProtocolVersion(protocolVersion)
                            .setPageToken(token)
                            .build(),
                    ListRulesResponse.getDefaultInstance(),
                    timeout);
            return new Pages.Page<>(ProtocolMessages.rules(response.getRulesList()), response.getNextPageToken());
        });
    }

    Session session(SessionOptions session) {
        var defaults = SessionDefaults.newBuilder()
                .setContext(context)
                .setOptions(options)
                .setFromBeginning(session.fromBeginning());
        return new Session(
                connection,
                CheckSessionRequest.newBuilder().setDefaults(defaults).build(),
                session.outstanding(),
                timeout);
    }
}
