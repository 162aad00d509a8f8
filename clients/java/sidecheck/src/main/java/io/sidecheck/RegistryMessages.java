package io.sidecheck;

import io.sidecheck.v1.GetServerInfoResponse;
import io.sidecheck.v1.RegisterToolsRequest;
import io.sidecheck.v1.RegisterToolsResponse;
import io.sidecheck.v1.RegistrationMode;
import io.sidecheck.v1.RevisionCheckpoint;
import io.sidecheck.v1.WatchToolsRequest;
import java.util.List;

/** Messages of RegistryService and InfoService. */
final class RegistryMessages {
    private RegistryMessages() {}

    static RegisterToolsRequest registrationRequest(String server, RegistrationOptions options, String version) {
        return options.encode(version)
                .setServer(server)
                .setMode(
                        options.replace()
                                ? RegistrationMode.REGISTRATION_MODE_REPLACE
                                : RegistrationMode.REGISTRATION_MODE_UPSERT)
                .build();
    }

    static Registration registration(RegisterToolsResponse response, int count) {
        Errors.requireCount(response.getOutcomesCount(), count, "RegisterToolsResponse.outcomes");
        return RegistryDecoders.registration(response);
    }

    static Tool tool(io.sidecheck.v1.Tool message) {
        Errors.require(!message.getJson().isEmpty(), "Tool.json");
        return new Tool(
                message.getServer(),
                message.getName(),
                new Json(message.getJson()),
                message.getDocumentsList().stream()
                        .map(document -> new Document(document.getUri(), ValidationMessages.json(document.getJson())))
                        .toList(),
                message.getDefinitionDigest(),
                message.getInputSchemaDigest(),
                message.getOutputSchemaDigest(),
                message.getRevision(),
                message.getProtocolVersion());
    }

    static WatchToolsRequest watchRequest(List<String> servers, Checkpoint after) {
        WatchToolsRequest.Builder request = WatchToolsRequest.newBuilder().addAllServers(servers);
        if (after != null) {
            request.setAfterRevision(after.revision()).setAfterId(after.id());
        }
        return request.build();
    }

    static Checkpoint checkpoint(RevisionCheckpoint message) {
        return new Checkpoint(message.getRevision(), message.getId());
    }

    /** Returns the change whose responses are the parts. */
    static ToolsChange change(List<io.sidecheck.v1.ToolsChange> parts) {
        io.sidecheck.v1.ToolsChange last = parts.get(parts.size() - 1);
        return new ToolsChange(
                last.getRevision(),
                last.getId(),
                last.getServer(),
                parts.stream()
                        .flatMap(part -> part.getRegisteredList().stream())
                        .map(RegistryMessages::tool)
                        .toList(),
                parts.stream().flatMap(part -> part.getDeletedList().stream()).toList());
    }

    static ServerInfo info(GetServerInfoResponse response) {
        return InfoDecoders.serverInfo(response);
    }
}
