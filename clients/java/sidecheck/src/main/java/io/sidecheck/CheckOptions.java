package io.sidecheck;

/**
 * Amount of detail in the result of a check.
 *
 * @param maxViolations maximum number of violations; the server lowers it to its own limit
 * @param hideValues whether messages omit values
 * @param minSeverity violations below it are omitted
 */
public record CheckOptions(int maxViolations, boolean hideValues, Severity minSeverity) {
    /** The defaults of the server. */
    public static final CheckOptions DEFAULTS = new CheckOptions(20, false, Severity.INFO);
}
