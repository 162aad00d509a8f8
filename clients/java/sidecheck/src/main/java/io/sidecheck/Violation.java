package io.sidecheck;

/**
 * One failed rule, with the location where it failed.
 *
 * @param instanceLocation JSON Pointer (RFC 6901) into the validated value; "" is the root
 * @param keywordLocation JSON Pointer to the failed keyword along the evaluation path; "" where no
 *     schema is involved
 * @param keyword JSON Schema keyword that failed; "" where no schema is involved
 * @param code stable code of the rule in upper snake case, meant for programs
 * @param severity severity
 * @param message expected and actual value, for people
 * @param suggestion the nearest known name or value; "" where none is near
 * @param specUrl URL of the section of the specification; "" for rules of the schema itself
 */
public record Violation(
        String instanceLocation,
        String keywordLocation,
        String keyword,
        String code,
        Severity severity,
        String message,
        String suggestion,
        String specUrl) {

    /**
     * Returns the location, the message, the suggestion and the code, in one line, with a space in
     * place of each character that is not printable.
     */
    @Override
    public String toString() {
        return Texts.describe(this);
    }
}
