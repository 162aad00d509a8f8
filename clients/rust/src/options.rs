//! Options of a client.

use std::time::Duration;

use crate::address::Address;
use crate::error::Error;
use crate::token::{Credentials, Token};

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
    /// Bearer token of all calls. Beyond this machine it needs TLS or `token_without_tls`.
    pub token: Option<Token>,
    /// Allows the token in plain text beyond this machine, where the network itself is encrypted.
    pub token_without_tls: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            on_unavailable: OnUnavailable::default(),
            protocol_version: String::new(),
            #[cfg(feature = "tls")]
            tls: None,
            token: None,
            token_without_tls: false,
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

    /// Name that the certificate of the server must have, if not the host's.
    pub(crate) fn server_name(&self) -> Option<&str> {
        #[cfg(feature = "tls")]
        return self.tls.as_ref()?.server_name.as_deref();
        #[cfg(not(feature = "tls"))]
        None
    }

    /// Checks that the token may be sent to `address`.
    pub(crate) fn check_token(&self, address: &Address) -> Result<(), Error> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        token.check()?;
        if self.is_encrypted() || self.token_without_tls || address.is_of_this_machine() {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "the token would be sent to {address} in plain text; set tls, or set \
             token_without_tls where the network itself is encrypted"
        )))
    }

    /// The credentials of the next call.
    pub(crate) fn credentials(&self) -> Result<Credentials, Error> {
        match &self.token {
            Some(token) => token.credentials(),
            None => Ok(Credentials::default()),
        }
    }
}
