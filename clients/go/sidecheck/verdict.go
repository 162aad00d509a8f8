package sidecheck

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Err returns nil if the verdict is valid or not enforced, and otherwise an
// [*InvalidPayloadError].
func (v *Verdict) Err() error {
	if v.Valid || !v.Enforced {
		return nil
	}
	return &InvalidPayloadError{Verdict: v}
}

// InvalidPayloadError says that a payload is invalid. Only [Verdict.Err] returns it.
type InvalidPayloadError struct {
	// Verdict on the payload.
	Verdict *Verdict
}

// Error describes the first errors. It contains values of the payload, unless
// Options.HideValues was set.
func (e *InvalidPayloadError) Error() string {
	var lines []string
	for _, violation := range e.Verdict.Violations {
		if violation.Severity == SeverityError {
			lines = append(lines, violation.String())
		}
	}
	return listLines("the payload is invalid", lines, e.Verdict.Truncated)
}

// String returns the location, the message, the suggestion and the code in one line, with a space
// in place of each character that is not printable.
func (v Violation) String() string {
	text := v.Message
	// Most messages contain it.
	if v.Suggestion != "" && !strings.Contains(text, v.Suggestion) {
		text += "; did you mean " + quote(v.Suggestion) + "?"
	}
	switch {
	case v.InstanceLocation == "":
	case text == "":
		text = v.InstanceLocation
	default:
		text = v.InstanceLocation + ": " + text
	}
	line := makePrintable(text)
	if utf8.RuneCountInString(line) > maxLine {
		line = string([]rune(line)[:maxLine-1]) + "…"
	}
	code := "[" + makePrintable(v.Code) + "]"
	if line == "" {
		return code
	}
	return line + " " + code
}

const (
	// maxLines is the most lines of the message of an error.
	maxLines = 10
	// maxLine is the longest description of a violation, in characters.
	maxLine = 600
)

// listLines returns title and the first of lines: one in the same line, several below it. If they
// are truncated, there may be more of them.
func listLines(title string, lines []string, truncated bool) string {
	more := len(lines) - maxLines
	switch {
	case more > 0 && truncated:
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("and at least %d more", more))
	case more > 0:
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more", more))
	case truncated && len(lines) > 0:
		lines = append(lines[:len(lines):len(lines)], "and possibly more")
	}
	switch len(lines) {
	case 0:
		return title
	case 1:
		return title + ": " + lines[0]
	}
	return title + ":\n- " + strings.Join(lines, "\n- ")
}
