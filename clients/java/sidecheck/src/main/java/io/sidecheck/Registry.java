package io.sidecheck;

import io.sidecheck.v1.CompareToolsRequest;
import io.sidecheck.v1.CompareToolsResponse;
import io.sidecheck.v1.DeleteToolsRequest;
import io.sidecheck.v1.DeleteToolsResponse;
import io.sidecheck.v1.GetToolRequest;
import io.sidecheck.v1.GetToolResponse;
import io.sidecheck.v1.InlineTool;
import io.sidecheck.v1.ListToolsRequest;
import io.sidecheck.v1.ListToolsResponse;
import io.sidecheck.v1.RegisterToolsRequest;
import io.sidecheck.v1.RegisterToolsResponse;
import io.sidecheck.v1.RegistryServiceGrpc;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The calls of RegistryService. */
record Registry(Connection connection, Duration timeout) {
    private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(30);

    Registration register(String server, List<Target.ToolDefinition> tools, RegistrationOptions options) {
        Duration deadline = timeout == null ? REGISTRATION_TIMEOUT : timeout;
        RegisterToolsRequest empty =
                RegistryMessages.registrationRequest(server, options, connection.options.protocolVersion());
        List<InlineTool> messages =
                tools.stream().map(ValidationMessages::inlineTool).toList();
        long room = connection.limits(deadline).messageBytes() - empty.getSerializedSize();
        List<String> removed = new ArrayList<>();
        List<String> kept = new ArrayList<>();
        List<RegistrationOutcome> outcomes = new ArrayList<>();
        long revision = 0;
        for (List<InlineTool> part : parts(messages, room, options.replace())) {
            Registration registered = RegistryMessages.registration(
                    connection.call(
                            RegistryServiceGrpc.getRegisterToolsMethod(),
                            empty.toBuilder().addAllTools(part).build(),
                            RegisterToolsResponse.getDefaultInstance(),
                            deadline),
                    part.size());
            outcomes.addAll(registered.outcomes());
            removed.addAll(registered.removed());
            kept.addAll(registered.kept());
            revision = registered.registryRevision();
        }
        Registration registration =
                new Registration(List.copyOf(outcomes), List.copyOf(removed), List.copyOf(kept), revision);
        if (!options.returnRejected() && !registration.rejected().isEmpty()) {
            throw new ToolsRejectedException(registration);
        }
        return registration;
    }

    private static List<List<InlineTool>> parts(List<InlineTool> messages, long room, boolean replace) {
        List<List<InlineTool>> parts =
                messages.isEmpty() ? List.of(messages) : Connection.split(messages, room, messages.size());
        if (replace && parts.size() > 1) {
            throw new IllegalArgumentException("the tools do not fit in one message of " + room
                    + " bytes, and a replacement cannot be split: register without replace, then"
                    + " delete");
        }
        for (InlineTool message : messages) {
            long size = Connection.elementBytes(message);
            if (size > room) {
                throw new IllegalArgumentException("a tool takes " + size + " bytes and one message holds " + room);
            }
        }
        return parts;
    }

    Comparison compare(ToolSet before, ToolSet after, SchemaReading reading) {
        return ComparisonDecoders.comparison(connection.call(
                RegistryServiceGrpc.getCompareToolsMethod(),
                CompareToolsRequest.newBuilder()
                        .setOld(ComparisonMessages.toolSet(before))
                        .setNew(ComparisonMessages.toolSet(after))
                        .setReading(ComparisonMessages.reading(reading))
                        .setMinRevision(connection.minRevision)
                        .build(),
                CompareToolsResponse.getDefaultInstance(),
                timeout));
    }

    Tool get(String server, String name, String adaptToVersion) {
        GetToolResponse response = connection.call(
                RegistryServiceGrpc.getGetToolMethod(),
                GetToolRequest.newBuilder()
                        .setServer(server)
                        .setName(name)
                        .setAdaptToVersion(adaptToVersion)
                        .setMinRevision(connection.minRevision)
                        .build(),
                GetToolResponse.getDefaultInstance(),
                timeout);
        Errors.require(response.hasTool(), "GetToolResponse.tool");
        return RegistryMessages.tool(response.getTool());
    }

    Iterable<Tool> list(String server, String adaptToVersion) {
        return new Pages<>(token -> {
            ListToolsResponse response = connection.call(
                    RegistryServiceGrpc.getListToolsMethod(),
                    ListToolsRequest.newBuilder()
                            .setServer(server)
                            .setAdaptToVersion(adaptToVersion)
                            .setPageToken(token)
                            .setMinRevision(connection.minRevision)
                            .build(),
                    ListToolsResponse.getDefaultInstance(),
                    timeout);
            return new Pages.Page<>(
                    response.getToolsList().stream().map(RegistryMessages::tool).toList(), response.getNextPageToken());
        });
    }

    Deletion delete(String server, List<String> names) {
        Deletion deletion = delete(DeleteToolsRequest.newBuilder()
                .setServer(server)
                .addAllNames(names)
                .build());
        if (!names.isEmpty()
                && deletion.deleted().isEmpty()
                && deletion.unknown().isEmpty()) {
            throw new InvalidResponseException("DeleteToolsResponse has no names for those of the request");
        }
        return deletion;
    }

    Deletion deleteAll(String server) {
        return delete(
                DeleteToolsRequest.newBuilder().setServer(server).setAll(true).build());
    }

    private Deletion delete(DeleteToolsRequest request) {
        DeleteToolsResponse response = connection.call(
                RegistryServiceGrpc.getDeleteToolsMethod(), request, DeleteToolsResponse.getDefaultInstance(), timeout);
        return RegistryDecoders.deletion(response);
    }
}
