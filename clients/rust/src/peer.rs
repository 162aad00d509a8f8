//! The server that a client calls, and the causes of calls that it did not answer.
//!
//! The clients of all languages word the causes alike (tests/cases/clients/connections.json); only
//! the remedies have the names of the language.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};

use tonic::Code;

use crate::address::Address;
use crate::error::{Error, ErrorKind, code_name};
use crate::options::ClientOptions;

/// Causes by parts of the errors of tonic; the first that matches decides. A server with TLS sends
/// nothing to a client in plain text, and closes the connection; one that requires a client
/// certificate may do the same, if there is none.
const CAUSES: [(&str, Cause); 16] = [
    ("Connection refused", Cause::ConnectionRefused),
    ("No such file or directory", Cause::NoSocket),
    ("dns error", Cause::UnknownHost),
    ("failed to lookup address", Cause::UnknownHost),
    ("InvalidContentType", Cause::TlsNotSpoken),
    (
        "invalid peer certificate: UnknownIssuer",
        Cause::UntrustedCertificate,
    ),
    (
        "invalid peer certificate: BadSignature",
        Cause::UntrustedCertificate,
    ),
    ("certificate not valid for name", Cause::MisnamedCertificate),
    ("frame with invalid size", Cause::Http2NotSpoken),
    ("broken pipe", Cause::ConnectionClosed),
    ("Broken pipe", Cause::ConnectionClosed),
    ("Connection reset", Cause::ConnectionClosed),
    ("connection closed", Cause::ConnectionClosed),
    ("peer closed connection", Cause::ConnectionClosed),
    ("unexpected end of file", Cause::ConnectionClosed),
    ("CertificateRequired", Cause::ConnectionClosed),
];

/// Beginning of tonic's message for a response that is not of gRPC.
const HTTP_STATUS: &str = "grpc-status header missing, mapped from HTTP status code ";

#[derive(Clone, Copy)]
enum Cause {
    ConnectionRefused,
    NoSocket,
    UnknownHost,
    ConnectionClosed,
    TlsNotSpoken,
    UntrustedCertificate,
    MisnamedCertificate,
    Http2NotSpoken,
}

/// The server that a client calls.
pub(crate) struct Peer {
    /// The address, as the caller wrote it.
    address: String,
    /// The address without the scheme of a resolver.
    place: String,
    is_encrypted: bool,
    /// Name that the certificate must have.
    server_name: String,
    /// Whether it responded, after which a lost connection says nothing about TLS.
    has_answered: AtomicBool,
    /// Whether it sent something else than HTTP/2. Depending on the timing, a later attempt only
    /// sees that the connection was closed.
    has_broken_http2: AtomicBool,
}

impl Peer {
    pub(crate) fn new(text: &str, address: &Address, options: &ClientOptions) -> Self {
        let place = address.to_string();
        let host = place.rsplit_once(':').map_or("", |(host, _)| host);
        Self {
            address: text.to_owned(),
            is_encrypted: options.is_encrypted(),
            server_name: options.server_name().unwrap_or(host).to_owned(),
            has_answered: AtomicBool::new(false),
            has_broken_http2: AtomicBool::new(false),
            place,
        }
    }

    pub(crate) fn note_response(&self) {
        // They guard no other data.
        self.has_answered.store(true, Ordering::Relaxed);
        self.has_broken_http2.store(false, Ordering::Relaxed);
    }

    /// The message and the metadata for a status that tonic made; none if the cause is unknown.
    pub(crate) fn describe(
        &self,
        status: &tonic::Status,
    ) -> Option<(String, [(&'static str, String); 2])> {
        let place = &self.place;
        if let Some(code) = status.message().strip_prefix(HTTP_STATUS) {
            let text = format!("{place} answered with HTTP status {code}, not with gRPC");
            return Some((text, self.metadata("HTTP_RESPONSE")));
        }
        let chain = describe_sources(status)?;
        let known = CAUSES.iter().find(|(part, _)| chain.contains(part));
        let (text, cause) = match known {
            Some((_, cause)) => self.describe_cause(*cause),
            // tonic's marker of an error before the call.
            None if chain.contains("connect error") => (
                format!("cannot connect to {place}: {}", status.message()),
                "NOT_CONNECTED",
            ),
            None => return None,
        };
        Some((text, self.metadata(cause)))
    }

    fn describe_cause(&self, cause: Cause) -> (String, &'static str) {
        let place = &self.place;
        match cause {
            Cause::ConnectionRefused => (
                format!("connection refused at {place}"),
                "CONNECTION_REFUSED",
            ),
            Cause::NoSocket => (format!("no socket at {place}"), "NO_SOCKET"),
            Cause::UnknownHost => (
                format!("cannot resolve the host of {place}"),
                "UNKNOWN_HOST",
            ),
            Cause::ConnectionClosed if self.has_broken_http2.load(Ordering::Relaxed) => {
                self.describe_cause(Cause::Http2NotSpoken)
            }
            Cause::ConnectionClosed => self.describe_closed(),
            Cause::TlsNotSpoken => (
                format!("the server at {place} does not speak TLS: leave out tls"),
                "TLS_NOT_SPOKEN",
            ),
            Cause::UntrustedCertificate => (
                format!(
                    "no trusted authority signed the certificate of {place}: \
                     set ca_certificates of tls"
                ),
                "UNTRUSTED_CERTIFICATE",
            ),
            Cause::MisnamedCertificate => (
                format!(
                    "the certificate of {place} is not for the name {}: set server_name of tls",
                    self.server_name
                ),
                "MISNAMED_CERTIFICATE",
            ),
            Cause::Http2NotSpoken => {
                self.has_broken_http2.store(true, Ordering::Relaxed);
                (
                    format!("the server at {place} does not speak HTTP/2, which gRPC requires"),
                    "HTTP2_NOT_SPOKEN",
                )
            }
        }
    }

    fn describe_closed(&self) -> (String, &'static str) {
        let (connection, remedy, cause) = match self.is_encrypted {
            true => (
                "TLS connection",
                ": if it requires a client certificate, set certificate of tls",
                "TLS_CONNECTION_CLOSED",
            ),
            false => (
                "connection",
                ": if it speaks TLS, set tls",
                "CONNECTION_CLOSED",
            ),
        };
        let remedy = match self.has_answered.load(Ordering::Relaxed) {
            true => "",
            false => remedy,
        };
        let text = format!(
            "the server at {} closed the {connection}{remedy}",
            self.place
        );
        (text, cause)
    }

    /// The error for a host name without an address.
    pub(crate) fn unresolved(&self) -> Error {
        let (text, cause) = self.describe_cause(Cause::UnknownHost);
        self.unavailable(Code::Unavailable, text, cause)
    }

    /// The error for a deadline that expires before a response arrives.
    pub(crate) fn deadline_exceeded(&self) -> Error {
        let text = format!("no response from {} before the deadline", self.place);
        self.unavailable(Code::DeadlineExceeded, text, "NO_RESPONSE")
    }

    fn unavailable(&self, code: Code, text: String, cause: &'static str) -> Error {
        Error::new(ErrorKind::Unavailable, code_name(code), text, code)
            .with_metadata(self.metadata(cause))
    }

    fn metadata(&self, cause: &'static str) -> [(&'static str, String); 2] {
        [
            ("cause", cause.to_owned()),
            ("address", self.address.clone()),
        ]
    }
}

/// The errors behind a status; none for a status that a server sent.
fn describe_sources(status: &tonic::Status) -> Option<String> {
    let mut chain = String::new();
    let mut source = Some(status.source()?);
    while let Some(error) = source {
        chain += &format!("{error}\n");
        source = error.source();
    }
    Some(chain)
}
