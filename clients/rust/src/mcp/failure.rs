//! Why a call has no verdict.

use rmcp::ErrorData;

use crate::error::Error;

/// Why there is no verdict.
pub(super) enum Failure {
    Sidecheck(Error),
    /// The reply is settled, for example by the handler of `tools/list`.
    Reply(ErrorData),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sidecheck(error)
    }
}

impl From<ErrorData> for Failure {
    fn from(error: ErrorData) -> Self {
        Self::Reply(error)
    }
}

pub(super) fn internal_error(message: impl Into<String>) -> ErrorData {
    ErrorData::internal_error(message.into(), None)
}

pub(super) fn undecodable() -> ErrorData {
    internal_error("Sidecheck could not validate the call: INVALID_RESPONSE")
}
