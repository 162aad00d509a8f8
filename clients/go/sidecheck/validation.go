package sidecheck

import (
	"fmt"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Subject is a payload and its role: [Arguments], [StructuredContent], [CallParams] or
// [CallResult]. With a bare schema as the target, arguments and structured content are
// equivalent and the other two are errors.
type Subject interface {
	encodeSubject() (*sidecheckv1.Subject, error)
}

// Arguments are the arguments of a tool call, validated against the tool's input schema.
type Arguments struct {
	// Payload is the arguments, as JSON.
	Payload any
}

// StructuredContent is the structured content of a tool result, validated against the tool's
// output schema.
type StructuredContent struct {
	// Payload is the content, as JSON, or [Absent].
	Payload any
}

// Absent is structured content that a result does not have, unlike nil, which is JSON's
// null. It is invalid if the tool has an output schema.
var Absent = absent{}

type absent struct{}

// CallParams are the complete params of a tools/call request. The arguments are validated
// against the tool's input schema. The target must be a tool; a [RegisteredTool] may leave
// out its name, which is then read from the params.
type CallParams struct {
	// Payload is the params, as JSON.
	Payload any
}

// CallResult is a complete CallToolResult. Its structured content is validated against the
// tool's output schema, if the tool has one and the result is not an error. The target must
// be a tool.
type CallResult struct {
	// Payload is the result, as JSON.
	Payload any
}

// Detail is the level of detail of a verdict.
type Detail string

// Levels of detail.
const (
	// DetailUnspecified is the same as DetailAll.
	DetailUnspecified Detail = ""
	// DetailVerdictOnly means validity only, without violations.
	DetailVerdictOnly Detail = "verdict_only"
	// DetailFirst means the first violation.
	DetailFirst Detail = "first"
	// DetailAll means all violations up to [ValidationOptions.MaxViolations].
	DetailAll Detail = "all"
)

// UnknownArguments is the treatment of object properties that the schema does not declare.
// Properties that the schema itself forbids are violations in every case.
type UnknownArguments string

// Treatments of undeclared properties.
const (
	// UnknownArgumentsUnspecified is the same as UnknownArgumentsSchema.
	UnknownArgumentsUnspecified UnknownArguments = ""
	// UnknownArgumentsSchema means that the schema alone decides.
	UnknownArgumentsSchema UnknownArguments = "schema"
	// UnknownArgumentsReject makes them violations with the code UNKNOWN_PROPERTY.
	UnknownArgumentsReject UnknownArguments = "reject"
	// UnknownArgumentsStrip removes them from the repaired payload.
	UnknownArgumentsStrip UnknownArguments = "strip"
	// UnknownArgumentsReport makes them warnings with the code UNKNOWN_PROPERTY.
	UnknownArgumentsReport UnknownArguments = "report"
)

// Coercion is the conversion of values to the type that the schema requires. It applies only
// where the payload is invalid, and only to the repaired payload; see [Verdict].Repair.
type Coercion string

// Conversions of values.
const (
	// CoercionUnspecified is the same as CoercionNone.
	CoercionUnspecified Coercion = ""
	// CoercionNone means no conversion.
	CoercionNone Coercion = "none"
	// CoercionJSONStrings decodes strings that contain the JSON text of an object or array,
	// where the schema requires one.
	CoercionJSONStrings Coercion = "json_strings"
	// CoercionSafeScalars also converts scalars whose value is preserved exactly: "10"
	// where an integer is required, but neither "010" nor "".
	CoercionSafeScalars Coercion = "safe_scalars"
)

// OnUnknownTool is the treatment of calls to tools that are not registered.
type OnUnknownTool string

// Treatments of unknown tools.
const (
	// OnUnknownToolUnspecified is the same as OnUnknownToolError.
	OnUnknownToolUnspecified OnUnknownTool = ""
	// OnUnknownToolError is the error UNKNOWN_TOOL.
	OnUnknownToolError OnUnknownTool = "error"
	// OnUnknownToolSkip is a valid verdict with a warning of the code UNKNOWN_TOOL, without
	// validation.
	OnUnknownToolSkip OnUnknownTool = "skip"
)

// ValidationOptions are the options of a validation. Zero values are the server's defaults.
type ValidationOptions struct {
	// ProtocolVersion is the MCP protocol version whose rules apply, for example
	// 2025-11-25. Empty means that of the client, or else the version that the tool was
	// registered under, or else the server's default.
	ProtocolVersion string
	// Detail is the level of detail of the verdict.
	Detail Detail
	// MaxViolations is the maximum number of violations in the verdict; 0 means 20. The
	// server lowers it to its own limit.
	MaxViolations uint32
	// UnknownArguments is the treatment of undeclared properties.
	UnknownArguments UnknownArguments
	// Coercion is the conversion of values of the wrong type in the repaired payload.
	Coercion Coercion
	// ApplyDefaults adds the schema's defaults for absent properties to the repaired
	// payload.
	ApplyDefaults bool
	// AssertFormats makes format an assertion; otherwise it is an annotation, the default
	// of JSON Schema 2020-12.
	AssertFormats bool
	// OnUnknownTool is the treatment of a call to an unknown tool.
	OnUnknownTool OnUnknownTool
	// HideValues leaves values of the payload out of messages.
	HideValues bool
}

// Item is one payload of a batch or stream.
type Item struct {
	// Subject is the payload and its role.
	Subject Subject
	// Target replaces that of the batch or stream, if it is not nil.
	Target Target
	// Options replace those of the batch or stream as a whole, if they are not nil.
	Options *ValidationOptions
}

// ValidateOutcome is the outcome of one item of a batch: a verdict or an error.
type ValidateOutcome struct {
	// Verdict is nil if Err is not.
	Verdict *Verdict
	// Err is an [*Error] if no verdict was possible.
	Err error
}

func (s Arguments) encodeSubject() (*sidecheckv1.Subject, error) {
	text, err := encodeJSON("arguments", s.Payload)
	return &sidecheckv1.Subject{Subject: &sidecheckv1.Subject_Arguments{Arguments: text}}, err
}

func (s StructuredContent) encodeSubject() (*sidecheckv1.Subject, error) {
	if _, ok := s.Payload.(absent); ok {
		return &sidecheckv1.Subject{Subject: &sidecheckv1.Subject_AbsentStructuredContent{
			AbsentStructuredContent: &sidecheckv1.AbsentContent{},
		}}, nil
	}
	text, err := encodeJSON("structured content", s.Payload)
	return &sidecheckv1.Subject{
		Subject: &sidecheckv1.Subject_StructuredContent{StructuredContent: text},
	}, err
}

func (s CallParams) encodeSubject() (*sidecheckv1.Subject, error) {
	text, err := encodeJSON("call params", s.Payload)
	return &sidecheckv1.Subject{Subject: &sidecheckv1.Subject_CallParams{CallParams: text}}, err
}

func (s CallResult) encodeSubject() (*sidecheckv1.Subject, error) {
	text, err := encodeJSON("call result", s.Payload)
	return &sidecheckv1.Subject{Subject: &sidecheckv1.Subject_CallResult{CallResult: text}}, err
}

// encodeItem returns the message for item. Its own options, if it has any, name version
// unless they name another protocol version.
func encodeItem(item Item, version string) (*sidecheckv1.ValidateItem, error) {
	var message sidecheckv1.ValidateItem
	var err error
	if message.Target, err = encodeTarget(item.Target); err != nil {
		return nil, err
	}
	if item.Subject != nil {
		if message.Subject, err = item.Subject.encodeSubject(); err != nil {
			return nil, err
		}
	}
	if item.Options != nil {
		if message.Options, err = encodeOptions(item.Options, version); err != nil {
			return nil, err
		}
	}
	return &message, nil
}

// encodeOptions returns the message for options, which name version unless they name another
// protocol version.
func encodeOptions(
	options *ValidationOptions, version string,
) (*sidecheckv1.ValidationOptions, error) {
	if options == nil {
		if version == "" {
			return nil, nil
		}
		options = &ValidationOptions{}
	}
	if options.ProtocolVersion != "" {
		version = options.ProtocolVersion
	}
	var enums enumEncoder
	message := &sidecheckv1.ValidationOptions{
		ProtocolVersion: version,
		Detail:          encodeEnum[sidecheckv1.Detail](&enums, detailWords, "Detail", options.Detail),
		MaxViolations:   options.MaxViolations,
		UnknownArguments: encodeEnum[sidecheckv1.UnknownArguments](
			&enums, unknownArgumentsWords, "UnknownArguments", options.UnknownArguments),
		Coercion: encodeEnum[sidecheckv1.Coercion](
			&enums, coercionWords, "Coercion", options.Coercion),
		ApplyDefaults: options.ApplyDefaults,
		AssertFormats: options.AssertFormats,
		OnUnknownTool: encodeEnum[sidecheckv1.OnUnknownTool](
			&enums, onUnknownToolWords, "OnUnknownTool", options.OnUnknownTool),
		HideValues: options.HideValues,
	}
	return message, enums.err
}

// decodeOutcome returns the outcome of one item of a batch or stream. The error is
// [ErrInvalidResponse]: it has neither a verdict nor an error.
func decodeOutcome(message *sidecheckv1.ValidateOutcome, revision uint64) (ValidateOutcome, error) {
	if verdict := message.GetVerdict(); verdict != nil {
		return ValidateOutcome{Verdict: decodeVerdict(verdict, revision)}, nil
	}
	if message.GetError().GetCode() == 0 {
		return ValidateOutcome{}, errNoOutcome()
	}
	return ValidateOutcome{Err: decodeItemError(message.GetError())}, nil
}

func errNoOutcome() *Error {
	return invalidResponse("an outcome has neither a result nor an error")
}

// CodeUnavailable is the code of the only violation of a verdict that stands in for a server
// that did not answer; see [ClientOptions.OnUnavailable].
const CodeUnavailable = "SIDECHECK_UNAVAILABLE"

// fallBack returns the verdict that the policy has in place of err, or err if it has none.
func (p OnUnavailable) fallBack(err *Error) (*Verdict, error) {
	if p == OnUnavailableError || p == "" || err.kind != ErrUnavailable {
		return nil, err
	}
	verdict := &Verdict{
		Valid: true,
		Violations: []Violation{{
			Code:     CodeUnavailable,
			Severity: SeverityWarning,
			Message:  fmt.Sprintf("not validated: %v", err),
		}},
		Enforced: true,
	}
	if p == OnUnavailableDeny {
		verdict.Valid = false
		verdict.Violations[0].Severity = SeverityError
		verdict.ToolErrorText = "This could not be validated and was rejected. Try again later."
	}
	return verdict, nil
}
