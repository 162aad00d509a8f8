//! Decoding of the messages of responses.

use bytes::Bytes;

use crate::json::Json;

/// A field that a response must have and lacks.
#[derive(Debug)]
pub struct MissingField(pub(crate) &'static str);

pub(crate) fn convert_all<T, U: From<T>>(messages: Vec<T>) -> Vec<U> {
    messages.into_iter().map(U::from).collect()
}

pub(crate) fn try_convert_all<T, U: TryFrom<T, Error = MissingField>>(
    messages: Vec<T>,
) -> Result<Vec<U>, MissingField> {
    messages.into_iter().map(U::try_from).collect()
}

/// The message in a field that a response must have.
pub(crate) fn require<T>(message: Option<T>, field: &'static str) -> Result<T, MissingField> {
    message.ok_or(MissingField(field))
}

/// The JSON text in a field that a response must have.
pub(crate) fn require_json(text: Bytes, field: &'static str) -> Result<Json, MissingField> {
    if text.is_empty() {
        return Err(MissingField(field));
    }
    Ok(text.into())
}
