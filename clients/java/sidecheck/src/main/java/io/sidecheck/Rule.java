package io.sidecheck;

import java.util.List;

/**
 * A rule of the MCP specification.
 *
 * @param code stable code, as in {@link Violation#code}
 * @param severity severity of its violations
 * @param protocolVersions protocol versions that have the rule
 * @param specUrl URL of the section of the specification that states it
 * @param requirement what it requires, for people
 * @param subjects what it applies to
 */
public record Rule(
        String code,
        Severity severity,
        List<String> protocolVersions,
        String specUrl,
        String requirement,
        List<String> subjects) {}
