//! Options of a client.

use std::time::Duration;

/// Policy for validations that no server answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnavailable {
    /// The error is returned.
    #[default]
    Error,
    /// The verdict is valid, with a warning of the code `SIDECHECK_UNAVAILABLE`.
    Allow,
    /// The verdict is invalid, with an error of the code `SIDECHECK_UNAVAILABLE`.
    Deny,
}

/// Options of a client.
#[derive(Clone)]
pub struct ClientOptions {
    /// Deadline of each call, retries included; 2 s by default. Must be positive.
    pub timeout: Duration,
    /// Policy for validations that no server answers.
    pub on_unavailable: OnUnavailable,
    /// MCP protocol version of all requests that name none, for example `2025-11-25`. Empty
    /// leaves it to the server.
    pub protocol_version: String,
    /// TLS of the connection; without it, the connection is in plain text.
    #[cfg(feature = "tls")]
    pub tls: Option<crate::tls::Tls>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            on_unavailable: OnUnavailable::default(),
            protocol_version: String::new(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl ClientOptions {
    pub(crate) fn is_encrypted(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }
}
