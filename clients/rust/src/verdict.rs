//! Methods and texts of verdicts.

use std::fmt;

use crate::text::{join, list_lines, make_printable, quote};
use crate::values::verdict::{Severity, Verdict, Violation};

/// Longest description of a violation, in characters.
const MOST_CHARACTERS: usize = 600;

/// The location, the message, the suggestion and the code, in one line, with a space in place of
/// each character that is not printable.
impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&describe(self))
    }
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
