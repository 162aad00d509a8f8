//! Verdicts: the outcome of a validation, with its violations and repairs.

use std::fmt;

use serde::Serialize;

use crate::enumeration::enumeration;
use crate::json::Json;
use crate::stubs::sidecheck::v1 as pb;
use crate::text::{join, list_lines, make_printable, quote};

/// Longest description of a violation, in characters.
const MOST_CHARACTERS: usize = 600;

enumeration! {
    /// Severity of a violation. Only an error makes a verdict invalid.
    Severity: pb::Severity {
        /// A requirement is broken.
        Error,
        /// A recommendation is not followed.
        Warning,
        /// Advice; no rule is broken. Also the severity of violations that this version does not
        /// know: the server itself decides whether a verdict is valid.
        Info,
    }
}

impl Severity {
    pub(crate) fn of_response(number: i32) -> Self {
        match Self::from(number) {
            Self::Unspecified => Self::Info,
            severity => severity,
        }
    }
}

/// One failed rule, with the location where it failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON Pointer (RFC 6901) into the validated value. A missing property is reported at its
    /// object, an unknown property at itself.
    pub instance_location: String,
    /// JSON Pointer to the failed keyword along the path of evaluation, through `$ref`. Empty
    /// where no schema is involved.
    pub keyword_location: String,
    /// JSON Schema keyword that failed. Empty where no schema is involved.
    pub keyword: String,
    /// Stable code of the rule in upper snake case, meant for programs.
    pub code: String,
    /// Severity of the violation.
    pub severity: Severity,
    /// Expected and actual value, for people and models.
    pub message: String,
    /// Nearest known name or value. Empty where none is near.
    pub suggestion: String,
    /// URL of the section of the specification. Empty for rules of the schema itself.
    pub spec_url: String,
}

/// The location, the message, the suggestion and the code, in one line, with a space in place of
/// each character that is not printable.
impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&describe(self))
    }
}

/// One change of a payload, or one that was skipped, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// JSON Pointer into the payload before this change.
    pub instance_location: String,
    /// Stable code of the change, for example `STRING_TO_INTEGER` or `DEFAULT_SKIPPED`.
    pub code: String,
    /// JSON Pointer to the keyword that calls for the change. Empty if unknown.
    pub keyword_location: String,
    /// Description of the change, for people.
    pub message: String,
}

/// A payload after the repairs that the options ask for. It is for the caller to use it or not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The repaired payload.
    pub payload: Json,
    /// Whether the repaired payload is valid.
    pub valid: bool,
    /// Violations of the repaired payload.
    pub violations: Vec<Violation>,
    /// Whether there may be more violations than are listed.
    pub truncated: bool,
    /// All changes; nothing else differs from the payload as sent.
    pub changes: Vec<Change>,
}

/// Outcome of a validation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[must_use]
pub struct Verdict {
    /// Whether there is no violation of severity error.
    pub valid: bool,
    /// Violations, ordered by instance location, keyword location and code.
    pub violations: Vec<Violation>,
    /// Whether there may be more violations than are listed.
    pub truncated: bool,
    /// Digest of the tool definition validated against. Empty for a bare schema.
    pub definition_digest: String,
    /// Digest of the schema validated against.
    pub schema_digest: String,
    /// Text for the model that sent invalid arguments. Empty if the verdict is valid.
    pub tool_error_text: String,
    /// Revision of the registry in which the target was resolved.
    pub registry_revision: u64,
    /// Whether to act on the verdict. False for servers that the service only reports on:
    /// their payloads pass, valid or not.
    pub enforced: bool,
    /// The payload after the options that change payloads, if there was something to change.
    pub repair: Option<Repair>,
    /// `CallToolResult` with `isError: true` to return in place of an invalid call or result.
    /// Empty if there is none.
    pub call_tool_result: Json,
    /// `error` of the JSON-RPC response to return, if the fault is one of the protocol and
    /// not of the tool. Empty otherwise.
    pub json_rpc_error: Json,
}

impl Verdict {
    /// Turns a verdict that is invalid and enforced into an error.
    ///
    /// # Errors
    ///
    /// The verdict is invalid and enforced, whatever its repair is.
    pub fn into_result(self) -> Result<Self, InvalidPayload> {
        if self.enforced && !self.valid {
            Err(InvalidPayload(Box::new(self)))
        } else {
            Ok(self)
        }
    }

    pub(crate) fn at_revision(mut self, registry_revision: u64) -> Self {
        self.registry_revision = registry_revision;
        self
    }
}

/// A payload is invalid; only [`Verdict::into_result`] returns this error.
///
/// Its text contains values of the payload, unless the options hide them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPayload(Box<Verdict>);

impl InvalidPayload {
    /// The verdict on the payload.
    pub fn verdict(&self) -> &Verdict {
        &self.0
    }
}

impl fmt::Display for InvalidPayload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = describe_errors(&self.0.violations);
        let text = list_lines("the payload is invalid", errors, self.0.truncated);
        formatter.write_str(&text)
    }
}

impl std::error::Error for InvalidPayload {}

impl From<pb::Violation> for Violation {
    fn from(message: pb::Violation) -> Self {
        Self {
            instance_location: message.instance_location,
            keyword_location: message.keyword_location,
            keyword: message.keyword,
            code: message.code,
            severity: Severity::of_response(message.severity),
            message: message.message,
            suggestion: message.suggestion,
            spec_url: message.spec_url,
        }
    }
}

impl From<pb::Change> for Change {
    fn from(message: pb::Change) -> Self {
        Self {
            instance_location: message.instance_location,
            code: message.code,
            keyword_location: message.keyword_location,
            message: message.message,
        }
    }
}

impl From<pb::Repair> for Repair {
    fn from(message: pb::Repair) -> Self {
        Self {
            payload: message.payload.into(),
            valid: message.valid,
            violations: convert_all(message.violations),
            truncated: message.truncated,
            changes: convert_all(message.changes),
        }
    }
}

impl From<pb::Verdict> for Verdict {
    fn from(message: pb::Verdict) -> Self {
        Self {
            valid: message.valid,
            violations: convert_all(message.violations),
            truncated: message.truncated,
            definition_digest: message.definition_digest,
            schema_digest: message.schema_digest,
            tool_error_text: message.tool_error_text,
            registry_revision: 0,
            enforced: message.enforced,
            repair: message.repair.map(Repair::from),
            call_tool_result: message.call_tool_result.into(),
            json_rpc_error: message.json_rpc_error.into(),
        }
    }
}

/// The location, the message, the suggestion and the code of a violation, in one line.
fn describe(violation: &Violation) -> String {
    let mut text = violation.message.clone();
    let suggestion = violation.suggestion.as_str();
    // Most messages contain it.
    if !suggestion.is_empty() && !text.contains(suggestion) {
        text.push_str(&format!("; did you mean {}?", quote(suggestion)));
    }
    let location = violation.instance_location.as_str();
    let mut line = make_printable(&join([location, text.as_str()], ": "));
    if line.chars().count() > MOST_CHARACTERS {
        line = line.chars().take(MOST_CHARACTERS - 1).collect();
        line.push('…');
    }
    let code = format!("[{}]", make_printable(&violation.code));
    join([line.as_str(), code.as_str()], " ")
}

/// The descriptions of the violations of severity error.
pub(crate) fn describe_errors(violations: &[Violation]) -> Vec<String> {
    let errors = violations.iter();
    let errors = errors.filter(|violation| violation.severity == Severity::Error);
    errors.map(describe).collect()
}

pub(crate) fn convert_all<T, U: From<T>>(messages: Vec<T>) -> Vec<U> {
    messages.into_iter().map(U::from).collect()
}
