package sidecheck

import (
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Detail is the level of detail of a verdict. The zero value is [DetailAll].
type Detail string

const (
	// DetailVerdictOnly is only whether the payload is valid, without violations.
	DetailVerdictOnly Detail = "verdict-only"
	// DetailFirst is only the first violation found.
	DetailFirst Detail = "first"
	// DetailAll is all violations, up to Options.MaxViolations.
	DetailAll Detail = "all"
)

// UnknownArguments is the treatment of properties that the schema does not declare. What the
// schema itself forbids is a violation in any case. The zero value is [UnknownArgumentsSchema].
type UnknownArguments string

const (
	// UnknownArgumentsSchema lets the schema alone decide.
	UnknownArgumentsSchema UnknownArguments = "schema"
	// UnknownArgumentsReject makes them violations with the code UNKNOWN_PROPERTY.
	UnknownArgumentsReject UnknownArguments = "reject"
	// UnknownArgumentsStrip removes them from the repaired payload.
	UnknownArgumentsStrip UnknownArguments = "strip"
	// UnknownArgumentsReport makes them warnings with the code UNKNOWN_PROPERTY.
	UnknownArgumentsReport UnknownArguments = "report"
)

// Coercion is which values of the wrong type are converted in the repaired payload, where the
// payload is invalid. The zero value is [CoercionNone].
type Coercion string

const (
	// CoercionNone converts nothing.
	CoercionNone Coercion = "none"
	// CoercionJSONStrings converts strings with the JSON text of an object or array, where
	// the schema requires one.
	CoercionJSONStrings Coercion = "json-strings"
	// CoercionSafeScalars also converts scalars whose value survives exactly: "10" where an
	// integer is required, but neither "010" nor "". It removes a property with null, "" or
	// "null" if the schema rejects that value and does not require the property.
	CoercionSafeScalars Coercion = "safe-scalars"
)

// OnUnknownTool is the treatment of calls to tools that are not registered. The zero value is
// [OnUnknownToolError].
type OnUnknownTool string

const (
	// OnUnknownToolError fails with UNKNOWN_TOOL.
	OnUnknownToolError OnUnknownTool = "error"
	// OnUnknownToolSkip returns a valid verdict with a warning of the code UNKNOWN_TOOL.
	// Nothing was validated.
	OnUnknownToolSkip OnUnknownTool = "skip"
)

// Options are the options of a validation. The zero value and a nil pointer are the defaults
// of the server.
type Options struct {
	// ProtocolVersion is the MCP protocol version whose rules apply, for example
	// "2025-11-25". Empty means the version of the client, or else the one that the tool was
	// registered under, or else the default of the server.
	ProtocolVersion string
	// Detail is the level of detail of the verdict.
	Detail Detail
	// MaxViolations is the maximum number of violations in the verdict. 0 means 20; the server
	// lowers values above its own limit.
	MaxViolations uint32
	// UnknownArguments is the treatment of undeclared properties.
	UnknownArguments UnknownArguments
	// Coercion is which conversions the repaired payload gets.
	Coercion Coercion
	// ApplyDefaults adds the defaults of the schema to the repaired payload.
	ApplyDefaults bool
	// AssertFormats makes format an assertion. Otherwise it is an annotation, the default of
	// JSON Schema 2020-12.
	AssertFormats bool
	// OnUnknownTool is the treatment of a call to an unknown tool.
	OnUnknownTool OnUnknownTool
	// HideValues leaves values of the payload out of messages.
	HideValues bool
}

// encode returns the message for the options with version, unless they name one. Nil without
// a version has no message.
func (o *Options) encode(version string) (*pb.ValidationOptions, error) {
	if o == nil {
		if version == "" {
			return nil, nil
		}
		return &pb.ValidationOptions{ProtocolVersion: version}, nil
	}
	if o.ProtocolVersion != "" {
		version = o.ProtocolVersion
	}
	detail, err := encodeWord[pb.Detail](o.Detail, "DETAIL_")
	if err != nil {
		return nil, err
	}
	unknown, err := encodeWord[pb.UnknownArguments](o.UnknownArguments, "UNKNOWN_ARGUMENTS_")
	if err != nil {
		return nil, err
	}
	coercion, err := encodeWord[pb.Coercion](o.Coercion, "COERCION_")
	if err != nil {
		return nil, err
	}
	onUnknown, err := encodeWord[pb.OnUnknownTool](o.OnUnknownTool, "ON_UNKNOWN_TOOL_")
	if err != nil {
		return nil, err
	}
	return &pb.ValidationOptions{
		ProtocolVersion:  version,
		Detail:           detail,
		MaxViolations:    o.MaxViolations,
		UnknownArguments: unknown,
		Coercion:         coercion,
		ApplyDefaults:    o.ApplyDefaults,
		AssertFormats:    o.AssertFormats,
		OnUnknownTool:    onUnknown,
		HideValues:       o.HideValues,
	}, nil
}
