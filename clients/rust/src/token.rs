//! Bearer tokens of calls (RFC 6750).

use std::fmt;
use std::sync::Arc;

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::error::Error;

/// Bearer token of a client's calls: a text, or a function that returns the token of each call.
///
/// It consists of one or more visible ASCII characters. `Debug` does not show it.
#[derive(Clone)]
pub struct Token(Source);

#[derive(Clone)]
enum Source {
    Text(String),
    Function(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Token {
    /// A token that is the same for all calls.
    pub fn new(token: impl Into<String>) -> Self {
        Self(Source::Text(token.into()))
    }

    /// The token that `function` returns, which is called for each call and stream, and
    /// must not block. What it returns may change, as tokens are replaced.
    pub fn from_fn(function: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self(Source::Function(Arc::new(function)))
    }

    /// Checks a token that does not change.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.0 {
            Source::Text(token) => bearer(token).map(drop),
            Source::Function(_) => Ok(()),
        }
    }

    /// The credentials of the next call.
    pub(crate) fn credentials(&self) -> Result<Credentials, Error> {
        let value = match &self.0 {
            Source::Text(token) => bearer(token),
            Source::Function(function) => bearer(&function()),
        };
        value.map(|value| Credentials(Some(value)))
    }
}

impl From<&str> for Token {
    fn from(token: &str) -> Self {
        Self::new(token)
    }
}

impl From<String> for Token {
    fn from(token: String) -> Self {
        Self::new(token)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

/// What a call, with all its attempts, is sent with.
#[derive(Clone, Default)]
pub(crate) struct Credentials(Option<MetadataValue<Ascii>>);

impl Credentials {
    pub(crate) fn add_to(&self, metadata: &mut MetadataMap) {
        if let Some(value) = &self.0 {
            metadata.insert("authorization", value.clone());
        }
    }
}

/// The header with `token`, which errors do not repeat.
fn bearer(token: &str) -> Result<MetadataValue<Ascii>, Error> {
    let invalid = || {
        let message = "token must have one or more visible ASCII characters, and no spaces";
        Error::invalid_argument(message)
    };
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid());
    }
    let header = format!("Bearer {token}");
    let mut value = MetadataValue::try_from(header).map_err(|_| invalid())?;
    // Kept out of the tables of HTTP/2's header compression, and of the value's `Debug`.
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_visible_ascii_characters() {
        for token in ["", "a b", "a\n", " a", "é", "a\u{7f}"] {
            let function = {
                let token = token.to_owned();
                Token::from_fn(move || token.clone())
            };
            for error in [
                Token::from(token).check().unwrap_err(),
                function.credentials().err().unwrap(),
            ] {
                assert_eq!(error.kind(), &crate::error::ErrorKind::InvalidArgument);
                assert!(error.message().contains("visible ASCII"), "{error}");
            }
        }
        assert!(Token::from("sct_a-_~!").check().is_ok());
    }

    #[test]
    fn a_token_is_shown_nowhere() {
        let token = Token::from("secret");
        let credentials = token.credentials().unwrap();
        let mut metadata = MetadataMap::new();
        credentials.add_to(&mut metadata);
        assert_eq!(metadata.get("authorization").unwrap(), "Bearer secret");
        let error = Token::from("secret\n").check().unwrap_err();
        let function = Token::from_fn(|| "secret".to_owned());
        for text in [
            format!("{token:?} {function:?} {metadata:?}"),
            format!("{error} {error:?}"),
        ] {
            assert!(!text.contains("secret"), "{text}");
        }
    }
}
