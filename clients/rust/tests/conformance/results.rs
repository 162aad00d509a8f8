//! Results of calls in the form of the cases, and their comparison.

use serde::Serialize;
use serde_json::{Map, Value, json};
use sidecheck::{Error, ErrorKind, InvalidPayload};

/// Why a case has no result.
pub enum Failure {
    Call(Error),
    Invalid(InvalidPayload),
    /// A word is none of its enumeration.
    Word(serde_json::Error),
}

impl Failure {
    pub fn render(&self) -> Value {
        match self {
            Self::Call(failure) => error(failure),
            Self::Invalid(invalid) => {
                json!({"kind": "invalid_payload", "text": invalid.to_string()})
            }
            Self::Word(fault) => json!({"kind": "invalid_argument", "message": fault.to_string()}),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl From<InvalidPayload> for Failure {
    fn from(invalid: InvalidPayload) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(fault: serde_json::Error) -> Self {
        Self::Word(fault)
    }
}

/// The outcomes of a batch; `name` is that of a result.
pub fn outcomes<T: Serialize>(outcomes: &[Result<T, Error>], name: &str) -> Value {
    let outcomes: Vec<_> = outcomes.iter().map(|each| outcome(each, name)).collect();
    json!({"outcomes": outcomes})
}

/// The outcome of an item; `name` is that of a result.
pub fn outcome<T: Serialize>(outcome: &Result<T, Error>, name: &str) -> Value {
    match outcome {
        Ok(result) => json!({name: result}),
        Err(failure) => json!({"error": error(failure)}),
    }
}

pub fn error(error: &Error) -> Value {
    let kind = match error.kind() {
        ErrorKind::InvalidArgument => "invalid_argument",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::InvalidResponse => "invalid_response",
        ErrorKind::StreamClosed(_) => "stream_closed",
        ErrorKind::StreamUnavailable(_) => "stream_unavailable",
        ErrorKind::ToolsRejected(_) => "tools_rejected",
        _ => "error",
    };
    json!({
        "kind": kind,
        "reason": error.reason(),
        "status": error.status(),
        "message": error.message(),
        "text": error.to_string(),
        "metadata": error.metadata(),
        "retry_after": error.retry_after().map(|delay| delay.as_secs_f64()),
        "unanswered": error.unanswered(),
    })
}

/// Leaves out what depends on what else the server has done.
pub fn without_revisions(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_constant = |name: &String| name != "registry_revision" && name != "revision";
            let fields = fields.into_iter().filter(|(name, _)| is_constant(name));
            Value::Object(
                fields
                    .map(|(name, value)| (name, without_revisions(value)))
                    .collect(),
            )
        }
        Value::Array(elements) => elements.into_iter().map(without_revisions).collect(),
        value => value,
    }
}

/// Whether the result is the wanted one; of an error only the wanted keys count.
pub fn is_expected(want: &Value, actual: &Value) -> bool {
    match (want, actual) {
        (Value::Object(want), Value::Object(actual)) => {
            let is_expected_field = |(name, want): (&String, &Value)| match (want, actual.get(name))
            {
                (_, None) => false,
                (Value::Object(want), Some(actual)) if name == "error" => has_all(want, actual),
                (want, Some(actual)) => is_expected(want, actual),
            };
            want.len() == actual.len() && want.iter().all(is_expected_field)
        }
        (Value::Array(want), Value::Array(actual)) => {
            want.len() == actual.len() && want.iter().zip(actual).all(|(a, b)| is_expected(a, b))
        }
        _ => want == actual,
    }
}

fn has_all(want: &Map<String, Value>, actual: &Value) -> bool {
    want.iter()
        .all(|(name, value)| actual.get(name) == Some(value))
}
