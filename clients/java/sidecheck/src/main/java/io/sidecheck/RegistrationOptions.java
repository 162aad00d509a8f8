package io.sidecheck;

/**
 * Options of a registration.
 *
 * @param replace whether the tools are the complete set: others of the server are deleted
 * @param changePolicy treatment of a definition that differs from the registered one
 * @param validateOnly whether to return only what would happen
 * @param protocolVersion MCP protocol version whose rules apply; "" is that of the client
 * @param returnRejected whether a registration with rejected tools is returned, not thrown
 */
public record RegistrationOptions(
        boolean replace,
        ChangePolicy changePolicy,
        boolean validateOnly,
        String protocolVersion,
        boolean returnRejected) {
    /** Tools are added, changes are accepted, and rejected tools are thrown. */
    public static final RegistrationOptions DEFAULTS =
            new RegistrationOptions(false, ChangePolicy.ACCEPT, false, "", false);

    /** Treatment of a definition that differs from the registered one. */
    public enum ChangePolicy {
        /** It is registered. */
        ACCEPT,
        /** It is registered, with a warning. */
        REPORT,
        /** The old one is kept, and the outcome has an error. */
        REJECT
    }
}
