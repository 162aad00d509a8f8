//! Payloads to validate, and the options of a validation.

use crate::error::Error;
use crate::json::Json;
use crate::status::item_error;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::values::verdict::Verdict;

pub use crate::values::validation_options::{
    Coercion, Detail, OnUnknownTool, Options, UnknownArguments,
};

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
