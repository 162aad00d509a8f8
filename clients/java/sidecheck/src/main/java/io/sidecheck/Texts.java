package io.sidecheck;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Texts of errors and verdicts, for terminals and logs. */
final class Texts {
    /** Most lines of the message of an error. */
    private static final int MAX_LINES = 10;

    /** Longest description of a violation, in characters. */
    private static final int MAX_LINE = 600;

    /**
     * Controls (ECMA-48), lone surrogates, line and paragraph separators, and format characters
     * that show nothing or change the direction of a text. The ranges do not follow the Unicode
     * version of the runtime: the clients of all languages have the same.
     */
    private static final Pattern NOT_PRINTABLE =
            Pattern.compile("[\\x00-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f"
                    + "\\x{d800}-\\x{dfff}\\ufeff\\ufff9-\\ufffb\\x{e0000}-\\x{e007f}]");

    private Texts() {}

    /** Returns a text with a space in place of each character that is not printable. */
    static String makePrintable(String text) {
        return NOT_PRINTABLE.matcher(text).replaceAll(" ");
    }

    /** Returns a text in quotes, printable, with a backslash before quotes and backslashes. */
    static String quote(String text) {
        return '"' + makePrintable(text).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Returns the location, the message, the suggestion and the code, in one line. */
    static String describe(Violation violation) {
        String text = violation.message();
        String suggestion = violation.suggestion();
        // Most messages contain it.
        if (!suggestion.isEmpty() && !text.contains(suggestion)) {
            text += "; did you mean " + quote(suggestion) + "?";
        }
        String location = violation.instanceLocation();
        String separator = location.isEmpty() || text.isEmpty() ? "" : ": ";
        String line = makePrintable(location + separator + text);
        if (line.codePointCount(0, line.length()) > MAX_LINE) {
            line = line.substring(0, line.offsetByCodePoints(0, MAX_LINE - 1)) + "…";
        }
        String code = "[" + makePrintable(violation.code()) + "]";
        return line.isEmpty() ? code : line + " " + code;
    }

    /** Returns the descriptions of the violations of severity error. */
    static List<String> errors(List<Violation> violations) {
        return violations.stream()
                .filter(violation -> violation.severity() == Severity.ERROR)
                .map(Texts::describe)
                .toList();
    }

    /**
     * Returns a title and the first lines: one in the same line, several below it. If they are
     * truncated, there may be more of them.
     */
    static String list(String title, List<String> lines, boolean truncated) {
        List<String> listed = new ArrayList<>(lines.subList(0, Math.min(lines.size(), MAX_LINES)));
        int more = lines.size() - listed.size();
        if (more > 0) {
            listed.add("and " + (truncated ? "at least " : "") + more + " more");
        } else if (truncated && !listed.isEmpty()) {
            listed.add("and possibly more");
        }
        return switch (listed.size()) {
            case 0 -> title;
            case 1 -> title + ": " + listed.get(0);
            default -> title + ":\n- " + String.join("\n- ", listed);
        };
    }
}
