//! Payloads to validate, and the options of a validation.

use serde::{Deserialize, Serialize};

use crate::enumeration::enumeration;
use crate::error::Error;
use crate::json::Json;
use crate::status::item_error;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::values::verdict::Verdict;

/// A payload and its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Arguments of a tool call, validated against the tool's input schema.
    Arguments(Json),
    /// Structured content of a tool result, validated against the tool's output schema. `None`
    /// is a result without any, which is invalid if the tool has an output schema.
    StructuredContent(Option<Json>),
    /// The complete `params` of a `tools/call`. The target must be a tool; a registered one may
    /// omit its name, which is then read from the params.
    CallParams(Json),
    /// A complete `CallToolResult`. The target must be a tool.
    CallResult(Json),
}

enumeration! {
    /// Level of detail of a verdict.
    Detail: pb::Detail {
        /// Only whether the payload is valid.
        VerdictOnly,
        /// Only the first violation.
        First,
        /// All violations, up to [`Options::max_violations`].
        All,
    }
}

enumeration! {
    /// Treatment of properties that the schema does not declare.
    UnknownArguments: pb::UnknownArguments {
        /// The schema alone decides.
        Schema,
        /// They are violations with the code `UNKNOWN_PROPERTY`.
        Reject,
        /// They are removed from the repaired payload.
        Strip,
        /// They are violations of severity warning with the code `UNKNOWN_PROPERTY`.
        Report,
    }
}

enumeration! {
    /// Type conversions in the repaired payload, where the schema requires the other type.
    Coercion: pb::Coercion {
        /// No conversion.
        None,
        /// Strings that contain the JSON text of an object or array.
        JsonStrings,
        /// Also scalars whose value survives the conversion exactly. A property with null, `""`
        /// or `"null"` is removed if the schema rejects that value and does not require the
        /// property.
        SafeScalars,
    }
}

enumeration! {
    /// Treatment of a call to a tool that is not registered.
    OnUnknownTool: pb::OnUnknownTool {
        /// The call fails with `UNKNOWN_TOOL`.
        Error,
        /// The verdict is valid, with a warning of the code `UNKNOWN_TOOL`.
        Skip,
    }
}

/// Options of a validation; the defaults are those of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// MCP protocol version whose rules apply, for example `2025-11-25`. Empty is the client's
    /// own, or else the version that the tool was registered under, or else the server's.
    pub protocol_version: String,
    /// Level of detail of the verdict.
    pub detail: Detail,
    /// Maximum number of violations in the verdict; 0 means 20. The server lowers it to its
    /// own limit.
    pub max_violations: u32,
    /// Treatment of properties that the schema does not declare.
    pub unknown_arguments: UnknownArguments,
    /// Type conversions in the repaired payload.
    pub coercion: Coercion,
    /// Whether absent properties of the repaired payload get the schema's `default`.
    pub apply_defaults: bool,
    /// Whether `format` is asserted; otherwise it is an annotation.
    pub assert_formats: bool,
    /// Treatment of a call to a tool that is not registered.
    pub on_unknown_tool: OnUnknownTool,
    /// Whether messages leave out values of the payload.
    pub hide_values: bool,
}

impl Options {
    pub(crate) fn encode(&self, default_version: &str) -> pb::ValidationOptions {
        pb::ValidationOptions {
            protocol_version: version_or(&self.protocol_version, default_version),
            detail: self.detail.into(),
            max_violations: self.max_violations,
            unknown_arguments: self.unknown_arguments.into(),
            coercion: self.coercion.into(),
            apply_defaults: self.apply_defaults,
            assert_formats: self.assert_formats,
            on_unknown_tool: self.on_unknown_tool.into(),
            hide_values: self.hide_values,
        }
    }
}

/// One payload of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The payload and its role.
    pub subject: Subject,
    /// Replaces the target of the batch.
    pub target: Option<Target>,
    /// Replaces the options of the batch as a whole.
    pub options: Option<Options>,
}

impl From<Subject> for Item {
    fn from(subject: Subject) -> Self {
        Self {
            subject,
            target: None,
            options: None,
        }
    }
}

impl Item {
    pub(crate) fn encode(self, default_version: &str) -> pb::ValidateItem {
        pb::ValidateItem {
            target: self.target.map(pb::Target::from),
            subject: Some(self.subject.into()),
            options: self.options.map(|options| options.encode(default_version)),
        }
    }
}

impl From<Subject> for pb::Subject {
    fn from(subject: Subject) -> Self {
        use pb::subject::Subject as Kind;
        let kind = match subject {
            Subject::Arguments(json) => Kind::Arguments(json.into_bytes()),
            Subject::StructuredContent(Some(json)) => Kind::StructuredContent(json.into_bytes()),
            Subject::StructuredContent(None) => Kind::AbsentStructuredContent(pb::AbsentContent {}),
            Subject::CallParams(json) => Kind::CallParams(json.into_bytes()),
            Subject::CallResult(json) => Kind::CallResult(json.into_bytes()),
        };
        Self {
            subject: Some(kind),
        }
    }
}

pub(crate) fn decode_outcome(
    outcome: pb::ValidateOutcome,
    revision: u64,
) -> Result<Verdict, Error> {
    use pb::validate_outcome::Outcome;
    match outcome.outcome {
        Some(Outcome::Verdict(verdict)) => Ok(Verdict::try_from(verdict)?.at_revision(revision)),
        Some(Outcome::Error(status)) => Err(item_error(Some(status))),
        None => Err(item_error(None)),
    }
}

pub(crate) fn version_or(version: &str, default: &str) -> String {
    if version.is_empty() {
        default.to_owned()
    } else {
        version.to_owned()
    }
}
