//! Decoding of the messages of responses.

use bytes::Bytes;

use crate::error::Error;
use crate::json::Json;

pub(crate) fn convert_all<T, U: From<T>>(messages: Vec<T>) -> Vec<U> {
    messages.into_iter().map(U::from).collect()
}

pub(crate) fn try_convert_all<T, U: TryFrom<T, Error = Error>>(
    messages: Vec<T>,
) -> Result<Vec<U>, Error> {
    messages.into_iter().map(U::try_from).collect()
}

/// The message in a field that a response must have.
pub(crate) fn require<T>(message: Option<T>, field: &str) -> Result<T, Error> {
    message.ok_or_else(|| Error::missing(field))
}

/// The JSON text in a field that a response must have.
pub(crate) fn require_json(text: Bytes, field: &str) -> Result<Json, Error> {
    if text.is_empty() {
        return Err(Error::missing(field));
    }
    Ok(text.into())
}
