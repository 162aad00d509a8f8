package io.sidecheck;

/**
 * Options of a registration.
 *
 * @param replace whether the tools are the complete set: others of the server are deleted
 * @param changePolicy treatment of a definition that differs from the registered one
 * @param validateOnly whether to return only what would happen
 * @param protocolVersion MCP protocol version whose rules apply; "" is that of the client
 * @param returnRejected whether a registration with rejected tools is returned, not thrown
 * @param compatibility treatment of a definition that breaks the callers of the registered one
 * @param reading reading of the schemas by which {@code compatibility} decides
 */
public record RegistrationOptions(
        boolean replace,
        ChangePolicy changePolicy,
        boolean validateOnly,
        String protocolVersion,
        boolean returnRejected,
        Compatibility compatibility,
        SchemaReading reading) {
    /** Tools are added, changes are accepted and not compared, and rejected tools are thrown. */
    public static final RegistrationOptions DEFAULTS =
            new RegistrationOptions(false, ChangePolicy.ACCEPT, false, "", false);

    /**
     * Options of a registration that does not compare definitions.
     *
     * @param replace whether the tools are the complete set: others of the server are deleted
     * @param changePolicy treatment of a definition that differs from the registered one
     * @param validateOnly whether to return only what would happen
     * @param protocolVersion MCP protocol version whose rules apply; "" is that of the client
     * @param returnRejected whether a registration with rejected tools is returned, not thrown
     */
    public RegistrationOptions(
            boolean replace,
            ChangePolicy changePolicy,
            boolean validateOnly,
            String protocolVersion,
            boolean returnRejected) {
        this(
                replace,
                changePolicy,
                validateOnly,
                protocolVersion,
                returnRejected,
                Compatibility.IGNORE,
                SchemaReading.ASSUME_CLOSED);
    }

    /**
     * Returns these options with or without deletion of the other tools of the server.
     *
     * @param value whether they are deleted
     * @return the options
     */
    public RegistrationOptions withReplace(boolean value) {
        return new RegistrationOptions(
                value, changePolicy, validateOnly, protocolVersion, returnRejected, compatibility, reading);
    }

    /**
     * Returns these options with another treatment of changed definitions.
     *
     * @param value treatment
     * @return the options
     */
    public RegistrationOptions withChangePolicy(ChangePolicy value) {
        return new RegistrationOptions(
                replace, value, validateOnly, protocolVersion, returnRejected, compatibility, reading);
    }

    /**
     * Returns these options with or without registration of the tools.
     *
     * @param value whether to return only what would happen
     * @return the options
     */
    public RegistrationOptions withValidateOnly(boolean value) {
        return new RegistrationOptions(
                replace, changePolicy, value, protocolVersion, returnRejected, compatibility, reading);
    }

    /**
     * Returns these options for another protocol version.
     *
     * @param value protocol version
     * @return the options
     */
    public RegistrationOptions withProtocolVersion(String value) {
        return new RegistrationOptions(
                replace, changePolicy, validateOnly, value, returnRejected, compatibility, reading);
    }

    /**
     * Returns these options with another treatment of a registration with rejected tools.
     *
     * @param value whether it is returned, not thrown
     * @return the options
     */
    public RegistrationOptions withReturnRejected(boolean value) {
        return new RegistrationOptions(
                replace, changePolicy, validateOnly, protocolVersion, value, compatibility, reading);
    }

    /**
     * Returns these options with another treatment of definitions that break callers.
     *
     * @param value treatment
     * @return the options
     */
    public RegistrationOptions withCompatibility(Compatibility value) {
        return new RegistrationOptions(
                replace, changePolicy, validateOnly, protocolVersion, returnRejected, value, reading);
    }

    /**
     * Returns these options with another reading of the schemas.
     *
     * @param value reading
     * @return the options
     */
    public RegistrationOptions withReading(SchemaReading value) {
        return new RegistrationOptions(
                replace, changePolicy, validateOnly, protocolVersion, returnRejected, compatibility, value);
    }

    /** Treatment of a definition that differs from the registered one. */
    public enum ChangePolicy {
        /** It is registered. */
        ACCEPT,
        /** It is registered, with a warning. */
        REPORT,
        /** The old one is kept, and the outcome has an error. */
        REJECT
    }

    /**
     * Treatment of a definition that is not compatible with the registered one of its name, as
     * {@link Client#compare} tells.
     */
    public enum Compatibility {
        /** Definitions are not compared. */
        IGNORE,
        /**
         * It is registered, with the warning {@code BREAKING_CHANGE} or {@code UNDECIDED_CHANGE} if
         * callers break or this is undecided.
         */
        REPORT,
        /**
         * The old one is kept if the change is breaking, and so are tools that a replacement would
         * remove.
         */
        REJECT_BREAKING,
        /** The old one is also kept if it is undecided whether callers break. */
        REJECT_UNDECIDED
    }
}
