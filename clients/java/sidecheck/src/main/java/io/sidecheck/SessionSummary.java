package io.sidecheck;

import java.util.List;

/**
 * What a session found in more than one message.
 *
 * @param repeatedViolations violations that several messages have, in the order of the first ones
 */
public record SessionSummary(List<RepeatedViolation> repeatedViolations) {
    /**
     * A violation that several messages have and the verdict on the first of them reports.
     *
     * @param code code of the violation
     * @param tool tool that it is about, or "" if it is about a side of the session
     * @param count number of messages that have it
     * @param firstItem index of the first of them among the checked messages, from 0
     */
    public record RepeatedViolation(String code, String tool, long count, long firstItem) {}
}
