//! Errors: everything that keeps the client from returning a result.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tonic::Code;

use crate::decoding::MissingField;
use crate::text::{list_lines, make_printable, quote};
use crate::values::error_reasons;
use crate::values::registry::{Action, Registration, RegistrationOutcome};
use crate::verdict::describe_errors;

/// A request that has no result, with the reason. An invalid payload is not an error.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Fields>);

#[derive(Clone, PartialEq, Eq)]
struct Fields {
    kind: ErrorKind,
    reason: String,
    message: String,
    metadata: BTreeMap<String, String>,
    code: Code,
    retry_after: Option<Duration>,
    is_refused: bool,
    is_final: bool,
}

/// Kind of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server refused the request, or the client was closed.
    Request,
    /// An argument is invalid. Nothing was sent.
    InvalidArgument,
    /// No Sidecheck server answered, after all retries that the deadline allows. The client's
    /// policy for unavailable servers applies to this kind only.
    Unavailable,
    /// A server answered, but not with what the API defines.
    InvalidResponse,
    /// A stream ended early. The ids are of the items without an outcome, in order.
    StreamClosed(Vec<String>),
    /// A stream ended because its server stopped, was lost or did not respond in time. The ids
    /// are of the items without an outcome, in order.
    StreamUnavailable(Vec<String>),
    /// Definitions were rejected; all others are registered.
    ToolsRejected(Registration),
}

impl Error {
    /// Kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Stable reason in upper snake case, for example `UNKNOWN_TOOL`; for errors of gRPC itself
    /// the name of the status code.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Description for people, as it was sent.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Variable parts of the message, by name.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.0.metadata
    }

    /// Status code of gRPC.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Name of the status code, for example `NOT_FOUND`.
    pub fn status(&self) -> &'static str {
        code_name(self.0.code)
    }

    /// Time after which the server suggests to try again, if it does.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Whether no Sidecheck server answered, also in a stream.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Unavailable | ErrorKind::StreamUnavailable(_)
        )
    }

    /// Ids of the items of a stream without an outcome, in order; empty for other errors.
    pub fn unanswered(&self) -> &[String] {
        match &self.0.kind {
            ErrorKind::StreamClosed(ids) | ErrorKind::StreamUnavailable(ids) => ids,
            _ => &[],
        }
    }

    /// The `error` of the JSON-RPC response to send, for a call to an unknown tool.
    pub fn json_rpc_error(&self) -> Option<Value> {
        // A proxy may cut metadata off; the reason says enough.
        let error = serde_json::from_str::<Value>(self.0.metadata.get("json_rpc_error")?).ok()?;
        error.is_object().then_some(error)
    }

    pub(crate) fn new(
        kind: ErrorKind,
        reason: impl Into<String>,
        message: impl Into<String>,
        code: Code,
    ) -> Self {
        Self(Box::new(Fields {
            kind,
            reason: reason.into(),
            message: message.into(),
            metadata: BTreeMap::new(),
            code,
            retry_after: None,
            is_refused: false,
            is_final: false,
        }))
    }

    pub(crate) fn with_metadata<K: Into<String>, V: Into<String>>(
        mut self,
        metadata: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.0.metadata.extend(
            metadata
                .into_iter()
                .map(|(key, value)| (key.into(), value.into())),
        );
        self
    }

    pub(crate) fn with_retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_after = delay;
        self
    }

    pub(crate) fn with_refusal(mut self, is_refused: bool) -> Self {
        self.0.is_refused = is_refused;
        self
    }

    /// Whether the server refused the stream of the call before any work on it.
    pub(crate) fn is_refused(&self) -> bool {
        self.0.is_refused
    }

    pub(crate) fn with_finality(mut self, is_final: bool) -> Self {
        self.0.is_final = is_final;
        self
    }

    /// Whether the server forbade another attempt of the call.
    pub(crate) fn is_final(&self) -> bool {
        self.0.is_final
    }

    /// The error of a stream that this one ended.
    pub(crate) fn in_stream(mut self, unanswered: Vec<String>) -> Self {
        self.0.kind = match self.is_unavailable() {
            true => ErrorKind::StreamUnavailable(unanswered),
            false => ErrorKind::StreamClosed(unanswered),
        };
        self
    }

    pub(crate) fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(
            ErrorKind::InvalidArgument,
            "INVALID_ARGUMENT",
            message,
            Code::InvalidArgument,
        )
    }

    pub(crate) fn invalid_response(message: impl Into<String>) -> Self {
        Self::new(
            ErrorKind::InvalidResponse,
            error_reasons::INVALID_RESPONSE,
            message,
            Code::Internal,
        )
    }

    /// The error for a response without what the request was for.
    pub(crate) fn missing(field: &str) -> Self {
        Self::invalid_response(format!("{field} is missing in the response"))
    }

    pub(crate) fn client_closed() -> Self {
        let message = "the client was closed";
        Self::new(
            ErrorKind::Request,
            error_reasons::CLIENT_CLOSED,
            message,
            Code::Cancelled,
        )
    }

    pub(crate) fn too_large(size: usize, limit: usize) -> Self {
        let message =
            format!("item too large: {size} bytes exceed the limit of {limit} (message_bytes)");
        Self::new(
            ErrorKind::Request,
            error_reasons::LIMIT_EXCEEDED,
            message,
            Code::ResourceExhausted,
        )
        .with_metadata([
            ("bound", "message_bytes".to_owned()),
            ("limit", limit.to_string()),
            ("found", size.to_string()),
        ])
    }
}

impl From<MissingField> for Error {
    fn from(field: MissingField) -> Self {
        Self::missing(field.0)
    }
}

impl Registration {
    /// Turns a registration with rejected tools into an error.
    ///
    /// # Errors
    ///
    /// A tool was rejected; the error's kind has the registration.
    pub fn into_result(self) -> Result<Self, Error> {
        let outcomes = self.outcomes.iter().enumerate();
        let rejected: Vec<_> = outcomes
            .filter(|(_, outcome)| outcome.action == Action::Rejected)
            .map(|(index, outcome)| describe_rejection(index, outcome))
            .collect();
        if rejected.is_empty() {
            return Ok(self);
        }
        let (count, total) = (rejected.len(), self.outcomes.len());
        let others = match count < total {
            true => ", the others are unaffected",
            false => "",
        };
        let title = format!("{count} of {total} tools rejected{others}");
        let message = list_lines(&title, rejected, false);
        let metadata = [
            ("rejected", count.to_string()),
            ("tools", total.to_string()),
        ];
        let kind = ErrorKind::ToolsRejected(self);
        Err(Error::new(
            kind,
            error_reasons::TOOLS_REJECTED,
            message,
            Code::InvalidArgument,
        )
        .with_metadata(metadata))
    }
}

fn describe_rejection(index: usize, outcome: &RegistrationOutcome) -> String {
    let mut line = format!("tools[{index}]");
    if !outcome.name.is_empty() {
        line.push_str(&format!(" {}", quote(&outcome.name)));
    }
    let errors = describe_errors(&outcome.violations);
    if let Some(error) = errors.first() {
        line.push_str(&format!(": {error}"));
    }
    if errors.len() > 1 {
        line.push_str(&format!(" (and {} more)", errors.len() - 1));
    }
    line
}

/// The reason and the message, with a space in place of each character that is not printable: a
/// server may be hostile.
impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}: {}", self.0.reason, self.0.message);
        match &self.0.kind {
            // The lines of the message are printable, and keep their breaks.
            ErrorKind::ToolsRejected(_) => formatter.write_str(&text),
            ErrorKind::StreamClosed(ids) | ErrorKind::StreamUnavailable(ids) => {
                let text = make_printable(&text);
                write!(
                    formatter,
                    "{text} (items without an outcome: {})",
                    ids.len()
                )
            }
            _ => formatter.write_str(&make_printable(&text)),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Error({self})")
    }
}

impl std::error::Error for Error {}

/// The name of a status code, as gRPC spells it.
pub(crate) fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
