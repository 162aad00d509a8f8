package io.sidecheck;

import java.util.List;

/**
 * A tool of the registry.
 *
 * @param server namespace of its server
 * @param name name
 * @param json the definition, byte for byte as registered, unless it was adapted
 * @param documents documents registered with it
 * @param definitionDigest digest of the definition
 * @param inputSchemaDigest digest of the input schema
 * @param outputSchemaDigest digest of the output schema; "" if there is none
 * @param revision revision at which the name was bound to the definition
 * @param protocolVersion protocol version that the tool was registered under
 */
public record Tool(
        String server,
        String name,
        Json json,
        List<Document> documents,
        String definitionDigest,
        String inputSchemaDigest,
        String outputSchemaDigest,
        long revision,
        String protocolVersion) {}
