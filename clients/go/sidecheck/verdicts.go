package sidecheck

import (
	"encoding/json"
	"fmt"
	"strings"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Severity is the severity of a violation. Only an error makes a verdict invalid.
type Severity string

// Severities.
const (
	// SeverityUnspecified stands for a value that this release does not know.
	SeverityUnspecified Severity = ""
	// SeverityError means that a requirement (MUST) is broken.
	SeverityError Severity = "error"
	// SeverityWarning means that a recommendation (SHOULD) is not followed.
	SeverityWarning Severity = "warning"
	// SeverityInfo is advice, for example of a model provider.
	SeverityInfo Severity = "info"
)

// Violation is one failed rule at one location of a payload, message or definition.
type Violation struct {
	// InstanceLocation is a JSON Pointer (RFC 6901) into the validated JSON, empty for the
	// root. A missing property is reported at the object that lacks it, an unknown one at
	// the property itself.
	InstanceLocation string
	// KeywordLocation is a JSON Pointer to the failed keyword along the path of evaluation,
	// through $ref. Empty where no schema is involved.
	KeywordLocation string
	// Keyword is the JSON Schema keyword that failed. Empty where none is involved.
	Keyword string
	// Code is the stable code of the rule in upper snake case, meant for programs.
	Code string
	// Severity is the severity of the violation.
	Severity Severity
	// Message is the expected and the actual value, for people and models.
	Message string
	// Suggestion is the nearest known name or value. Empty if none is near.
	Suggestion string
	// SpecURL is the section of the specification that states the rule. Empty for a rule
	// of the tool's own schema.
	SpecURL string
}

// Verdict is the outcome of a validation.
type Verdict struct {
	// Valid reports whether there is no violation of severity error.
	Valid bool
	// Violations are ordered by instance location, keyword location and code.
	Violations []Violation
	// Truncated reports whether there may be more violations than Violations lists.
	Truncated bool
	// DefinitionDigest is the digest of the tool definition validated against. Empty for a
	// bare schema.
	DefinitionDigest string
	// SchemaDigest is the digest of the schema validated against.
	SchemaDigest string
	// ToolErrorText is for the model that sent invalid arguments: each location, what is
	// expected there and the nearest known name. Empty if the verdict is valid.
	ToolErrorText string
	// Enforced reports whether to act on the verdict. It is false for servers that the
	// service is configured to report on only: their payloads pass, valid or not.
	Enforced bool
	// Repair is the payload after the changes that the options ask for. Nil if they ask for
	// none or none was needed. The other fields are about the payload as it was sent.
	Repair *Repair
	// CallToolResult is the result with isError to return in place of an invalid call or
	// result, as JSON text. Nil if none is due.
	CallToolResult json.RawMessage
	// JSONRPCError is the error of the JSON-RPC response to send if the fault is one of the
	// protocol and not of the tool, as JSON text. Nil if none is due.
	JSONRPCError json.RawMessage
	// RegistryRevision is the revision of the registry in which the target was resolved.
	RegistryRevision uint64
}

// Repair is a payload after [ValidationOptions.Coercion], UnknownArguments and
// ApplyDefaults, applied in this order.
type Repair struct {
	// Payload is the repaired payload, as JSON text.
	Payload json.RawMessage
	// Valid reports whether the repaired payload is valid.
	Valid bool
	// Violations of the repaired payload, as in [Verdict].
	Violations []Violation
	// Truncated reports whether there may be more violations than Violations lists.
	Truncated bool
	// Changes are all changes: what is not listed was not changed.
	Changes []Change
}

// Change is one change of a payload, or one that was skipped and why.
type Change struct {
	// InstanceLocation is a JSON Pointer into the payload before this change.
	InstanceLocation string
	// Code is the stable code of the change, for example STRING_TO_INTEGER.
	Code string
	// KeywordLocation is a JSON Pointer to the keyword that called for the change. Empty if
	// unknown.
	KeywordLocation string
	// Message describes the change, for people.
	Message string
}

// Err returns an [*InvalidPayloadError] if the verdict is invalid and enforced, and nil
// otherwise. A repair does not matter.
func (v *Verdict) Err() error {
	if v.Valid || !v.Enforced {
		return nil
	}
	return &InvalidPayloadError{Verdict: v}
}

// InvalidPayloadError says that a payload is invalid. Only [Verdict.Err] returns it. Its text
// contains values of the payload unless [ValidationOptions.HideValues] was set.
type InvalidPayloadError struct {
	// Verdict is the invalid verdict.
	Verdict *Verdict
}

// Error describes the errors among the violations, at most ten.
func (e *InvalidPayloadError) Error() string {
	lines := describeErrors(e.Verdict.Violations)
	return listLines("the payload is invalid", lines, e.Verdict.Truncated)
}

// describeErrors returns a line for each violation of severity error.
func describeErrors(violations []Violation) []string {
	var lines []string
	for _, violation := range violations {
		if violation.Severity != SeverityError {
			continue
		}
		text := violation.Message
		// Most messages contain the suggestion.
		if violation.Suggestion != "" && !strings.Contains(text, violation.Suggestion) {
			text += fmt.Sprintf("; did you mean %q?", violation.Suggestion)
		}
		if violation.InstanceLocation != "" {
			text = violation.InstanceLocation + ": " + text
		}
		lines = append(lines, fmt.Sprintf("%s [%s]", text, violation.Code))
	}
	return lines
}

// listLines returns title and the first ten of lines: one in the same line, several below it.
func listLines(title string, lines []string, truncated bool) string {
	const most = 10
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most:most], fmt.Sprintf("and %d more", more))
	} else if truncated && len(lines) > 0 {
		lines = append(lines, "and possibly more")
	}
	switch len(lines) {
	case 0:
		return title
	case 1:
		return title + ": " + lines[0]
	}
	return title + ":\n- " + strings.Join(lines, "\n- ")
}

func decodeVerdict(message *sidecheckv1.Verdict, registryRevision uint64) *Verdict {
	return &Verdict{
		Valid:            message.GetValid(),
		Violations:       decodeViolations(message.GetViolations()),
		Truncated:        message.GetTruncated(),
		DefinitionDigest: message.GetDefinitionDigest(),
		SchemaDigest:     message.GetSchemaDigest(),
		ToolErrorText:    message.GetToolErrorText(),
		Enforced:         message.GetEnforced(),
		Repair:           decodeRepair(message.GetRepair()),
		CallToolResult:   receivedJSON(message.GetCallToolResult()),
		JSONRPCError:     receivedJSON(message.GetJsonRpcError()),
		RegistryRevision: registryRevision,
	}
}

func decodeViolations(messages []*sidecheckv1.Violation) []Violation {
	return decodeList(messages, func(message *sidecheckv1.Violation) Violation {
		return Violation{
			InstanceLocation: message.GetInstanceLocation(),
			KeywordLocation:  message.GetKeywordLocation(),
			Keyword:          message.GetKeyword(),
			Code:             message.GetCode(),
			Severity:         decodeEnum[Severity](severityWords, message.GetSeverity()),
			Message:          message.GetMessage(),
			Suggestion:       message.GetSuggestion(),
			SpecURL:          message.GetSpecUrl(),
		}
	})
}

func decodeRepair(message *sidecheckv1.Repair) *Repair {
	if message == nil {
		return nil
	}
	return &Repair{
		Payload:    receivedJSON(message.GetPayload()),
		Valid:      message.GetValid(),
		Violations: decodeViolations(message.GetViolations()),
		Truncated:  message.GetTruncated(),
		Changes:    decodeChanges(message.GetChanges()),
	}
}

func decodeChanges(messages []*sidecheckv1.Change) []Change {
	return decodeList(messages, func(message *sidecheckv1.Change) Change {
		return Change{
			InstanceLocation: message.GetInstanceLocation(),
			Code:             message.GetCode(),
			KeywordLocation:  message.GetKeywordLocation(),
			Message:          message.GetMessage(),
		}
	})
}

// decodeList returns the values of messages, nil if there are none.
func decodeList[Message, Value any](messages []Message, decode func(Message) Value) []Value {
	if len(messages) == 0 {
		return nil
	}
	values := make([]Value, len(messages))
	for index, message := range messages {
		values[index] = decode(message)
	}
	return values
}
