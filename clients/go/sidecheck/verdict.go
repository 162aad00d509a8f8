package sidecheck

import (
	"fmt"
	"strings"
	"unicode/utf8"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Severity is the severity of a violation. Only an error makes a verdict invalid.
type Severity string

const (
	// SeverityError means that a requirement is broken.
	SeverityError Severity = "error"
	// SeverityWarning means that a recommendation is not followed.
	SeverityWarning Severity = "warning"
	// SeverityInfo is advice, and the severity of violations that this release does not know:
	// the server itself decides whether a verdict is valid.
	SeverityInfo Severity = "info"
)

// Verdict is the outcome of a validation. An invalid payload is a normal outcome; [Verdict.Err]
// turns it into an error.
type Verdict struct {
	// Valid says whether there is no violation of [SeverityError].
	Valid bool
	// Violations are ordered by instance location, keyword location and code.
	Violations []Violation
	// Truncated says whether there may be more violations than are listed.
	Truncated bool
	// DefinitionDigest is the digest of the tool definition validated against; empty for a
	// bare schema.
	DefinitionDigest string
	// SchemaDigest is the digest of the schema validated against.
	SchemaDigest string
	// ToolErrorText is text for the model that sent invalid arguments, for a CallToolResult
	// with isError. Empty if the verdict is valid.
	ToolErrorText string
	// Enforced says whether to act on the verdict. It is false for servers that Sidecheck only
	// reports on: their payloads pass, valid or not.
	Enforced bool
	// Repair is the payload after the changes that the options ask for; nil if none was asked
	// for or needed. The other fields are about the payload as sent.
	Repair *Repair
	// CallToolResult is the result to return in place of an invalid call or result, with
	// isError.
	CallToolResult JSON
	// JSONRPCError is the error of the JSON-RPC response to send, if the fault is one of the
	// protocol and not of the tool.
	JSONRPCError JSON
	// RegistryRevision is the revision of the registry in which the target was resolved.
	RegistryRevision uint64
}

// Violation is one failed rule at one location.
type Violation struct {
	// InstanceLocation is a JSON Pointer (RFC 6901) into the validated value; empty for the
	// root. A missing property is reported at its object, an unknown one at itself.
	InstanceLocation string
	// KeywordLocation is a JSON Pointer to the failed keyword along the path of evaluation.
	// Empty where no schema is involved.
	KeywordLocation string
	// Keyword is the JSON Schema keyword that failed; empty where no schema is involved.
	Keyword string
	// Code is the stable code of the rule in upper snake case, meant for programs.
	Code string
	// Severity of the violation.
	Severity Severity
	// Message has the expected and the actual value, for people and models.
	Message string
	// Suggestion is the nearest known name or value; empty if none is near.
	Suggestion string
	// SpecURL is the URL of the section of the specification that states the rule; empty for
	// rules of the schema itself.
	SpecURL string
}

// Repair is a payload after Options.Coercion, Options.UnknownArguments and
// Options.ApplyDefaults, applied in this order. The caller decides whether to use it.
type Repair struct {
	// Payload is the repaired payload.
	Payload JSON
	// Valid says whether the repaired payload is valid.
	Valid bool
	// Violations of the repaired payload.
	Violations []Violation
	// Truncated says whether there may be more violations than are listed.
	Truncated bool
	// Changes are all changes: nothing else differs from the payload as sent.
	Changes []Change
}

// Change is one change of a payload, or one that was skipped, with the reason.
type Change struct {
	// InstanceLocation is a JSON Pointer into the payload before the change.
	InstanceLocation string
	// Code is the stable code of the change, for example STRING_TO_INTEGER.
	Code string
	// KeywordLocation is a JSON Pointer to the keyword that calls for the change; empty if
	// unknown.
	KeywordLocation string
	// Message describes the change, for people.
	Message string
}

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

func decodeVerdict(message *pb.Verdict, revision uint64) *Verdict {
	return &Verdict{
		Valid:            message.GetValid(),
		Violations:       decodeViolations(message.GetViolations()),
		Truncated:        message.GetTruncated(),
		DefinitionDigest: message.GetDefinitionDigest(),
		SchemaDigest:     message.GetSchemaDigest(),
		ToolErrorText:    message.GetToolErrorText(),
		Enforced:         message.GetEnforced(),
		Repair:           decodeRepair(message.GetRepair()),
		CallToolResult:   message.GetCallToolResult(),
		JSONRPCError:     message.GetJsonRpcError(),
		RegistryRevision: revision,
	}
}

func decodeViolations(messages []*pb.Violation) []Violation {
	var violations []Violation
	for _, message := range messages {
		violations = append(violations, Violation{
			InstanceLocation: message.GetInstanceLocation(),
			KeywordLocation:  message.GetKeywordLocation(),
			Keyword:          message.GetKeyword(),
			Code:             message.GetCode(),
			Severity:         decodeSeverity(message.GetSeverity()),
			Message:          message.GetMessage(),
			Suggestion:       message.GetSuggestion(),
			SpecURL:          message.GetSpecUrl(),
		})
	}
	return violations
}

func decodeSeverity(value pb.Severity) Severity {
	switch value {
	case pb.Severity_SEVERITY_ERROR:
		return SeverityError
	case pb.Severity_SEVERITY_WARNING:
		return SeverityWarning
	}
	return SeverityInfo
}

func decodeRepair(message *pb.Repair) *Repair {
	if message == nil {
		return nil
	}
	return &Repair{
		Payload:    message.GetPayload(),
		Valid:      message.GetValid(),
		Violations: decodeViolations(message.GetViolations()),
		Truncated:  message.GetTruncated(),
		Changes:    decodeChanges(message.GetChanges()),
	}
}

func decodeChanges(messages []*pb.Change) []Change {
	var changes []Change
	for _, message := range messages {
		changes = append(changes, Change{
			InstanceLocation: message.GetInstanceLocation(),
			Code:             message.GetCode(),
			KeywordLocation:  message.GetKeywordLocation(),
			Message:          message.GetMessage(),
		})
	}
	return changes
}
