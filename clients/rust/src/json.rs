//! JSON as text, in both directions.

use std::fmt;

use bytes::Bytes;
use serde::{Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;

/// JSON text in UTF-8.
///
/// Bytes are taken as JSON text and sent unchanged, valid or not; a [`Value`] is encoded.
/// Prefer bytes for what was received over a network, because decoding and encoding hide
/// duplicate keys and other faults.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Json(Bytes);

impl Json {
    /// Encodes any value.
    ///
    /// # Errors
    ///
    /// JSON cannot express the value, for example a map whose keys are no strings.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self(serde_json::to_vec(value)?.into()))
    }

    /// Decodes the text.
    ///
    /// # Errors
    ///
    /// There is no text, it is no JSON, or its value has another type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// The text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl fmt::Debug for Json {
    // Payload values must not enter logs.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Json({} bytes)", self.0.len())
    }
}

/// Serializes the text as a string.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(&self.0))
    }
}

impl From<Bytes> for Json {
    fn from(text: Bytes) -> Self {
        Self(text)
    }
}

impl From<Vec<u8>> for Json {
    fn from(text: Vec<u8>) -> Self {
        Self(text.into())
    }
}

impl From<&[u8]> for Json {
    fn from(text: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(text))
    }
}

impl<const N: usize> From<&[u8; N]> for Json {
    fn from(text: &[u8; N]) -> Self {
        Self(Bytes::copy_from_slice(text))
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}
