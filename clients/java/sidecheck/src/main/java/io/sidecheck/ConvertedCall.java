package io.sidecheck;

import java.util.List;

/**
 * A model's call as a {@code tools/call}.
 *
 * @param server server that offers the tool, or ""
 * @param tool original name of the tool
 * @param callId id that the API gave the call; may be ""
 * @param callParams the {@code params}; empty if the arguments are not a JSON object
 * @param verdict verdict on the arguments against the original schema
 * @param changes changes of the arguments other than renamed properties
 * @param name name of the tool in the request; "" if it cannot be read
 */
public record ConvertedCall(
        String server,
        String tool,
        String callId,
        Json callParams,
        Verdict verdict,
        List<Change> changes,
        String name) {}
