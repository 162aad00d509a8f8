//! Errors from statuses, of failed calls and of items.

use std::error::Error as _;
use std::time::Duration;

use prost::Message;
use tokio::time::Instant;
use tonic::Code;

use crate::error::{Error, ErrorKind, code_name};
use crate::peer::Peer;
use crate::stubs::google::rpc;
use crate::values::error_reasons;

/// Domain of the error reasons that are Sidecheck's.
const DOMAIN: &str = "sidecheck";

/// Metadata with the delay of the next attempt, in milliseconds.
const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// Parts of messages that say that a request is too large: of gRPC for C++ and Go, of gRPC for
/// Java, of tonic, and of HTTP status 413 as gRPC for C++ and tonic report it. Whoever writes the
/// payload can bring these about, so they must never pass for an unavailable server.
const TOO_LARGE: [&str; 5] = [
    "message larger than max",
    "message exceeds maximum size",
    "decoded message length too large",
    "http2 header with status: 413",
    "HTTP status code 413",
];

/// The error of a failed call to a peer with a deadline, if it has one.
pub(crate) fn call_error(status: &tonic::Status, deadline: Option<Instant>, peer: &Peer) -> Error {
    described_error(status, deadline, peer).with_finality(forbids_retry(status))
}

fn described_error(status: &tonic::Status, deadline: Option<Instant>, peer: &Peer) -> Error {
    // Details that do not decode are ignored: the code and the message suffice.
    let details = rpc::Status::decode(status.details())
        .unwrap_or_default()
        .details;
    let code = code_of(status);
    let full = rpc::Status {
        code: code as i32,
        message: status.message().to_owned(),
        details,
    };
    if error_info(&full).is_some() {
        return reported_error(full);
    }
    let message = if full.message.is_empty() {
        "the status has no message"
    } else {
        full.message.as_str()
    };
    if TOO_LARGE.iter().any(|part| message.contains(part)) {
        return Error::new(
            ErrorKind::Request,
            error_reasons::LIMIT_EXCEEDED,
            message,
            Code::ResourceExhausted,
        )
        .with_metadata([("bound", "message_bytes")]);
    }
    // A server that ends a call at its deadline may only reset it.
    let is_late = deadline.is_some_and(|deadline| deadline <= Instant::now());
    if code == Code::DeadlineExceeded || is_late && is_reset(code) {
        return peer.deadline_exceeded();
    }
    if !may_be_absent(code) {
        return Error::new(ErrorKind::Request, code_name(code), message, code)
            .with_retry_after(retry_after(&full));
    }
    let (message, metadata) = match peer.describe(status) {
        Some((message, metadata)) => (message, Some(metadata)),
        None => (message.to_owned(), None),
    };
    Error::new(ErrorKind::Unavailable, code_name(code), message, code)
        .with_metadata(metadata.into_iter().flatten())
        .with_retry_after(retry_after(&full))
        .with_refusal(is_refused(status))
}

/// Whether the server asks not to retry the call, by a delay that is negative or no number (gRFC
/// A6, "Pushback").
fn forbids_retry(status: &tonic::Status) -> bool {
    let delay = status.metadata().get(PUSHBACK);
    delay.is_some_and(|delay| {
        let milliseconds = delay
            .to_str()
            .ok()
            .and_then(|text| text.parse::<u32>().ok());
        milliseconds.is_none()
    })
}

fn is_refused(status: &tonic::Status) -> bool {
    let mut source = status.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return error.reason() == Some(h2::Reason::REFUSED_STREAM);
        }
        source = error.source();
    }
    false
}

/// The code of a status. Of a lost connection it is `UNAVAILABLE`, as in other gRPC libraries:
/// tonic has `UNKNOWN`, `CANCELLED` or, if the server closed it in order, `INTERNAL`.
fn code_of(status: &tonic::Status) -> Code {
    // Only a status that tonic made has a source.
    let mut source = status.source();
    if source.is_none() {
        return status.code();
    }
    while let Some(error) = source {
        if error.is::<tonic::TimeoutExpired>() {
            return Code::DeadlineExceeded;
        }
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            let is_lost = error.is_go_away() || error.is_io();
            return if is_lost {
                Code::Unavailable
            } else {
                status.code()
            };
        }
        source = error.source();
    }
    if is_reset(status.code()) {
        Code::Unavailable
    } else {
        status.code()
    }
}

/// Whether a call that ended without a status has the code.
fn is_reset(code: Code) -> bool {
    matches!(code, Code::Cancelled | Code::Unknown)
}

/// The error that a server reports for a call or an item.
pub(crate) fn item_error(status: Option<rpc::Status>) -> Error {
    match status {
        Some(status) if status.code != Code::Ok as i32 => reported_error(status),
        _ => Error::invalid_response("an outcome has neither a result nor an error"),
    }
}

fn reported_error(status: rpc::Status) -> Error {
    let code = Code::from_i32(status.code);
    let info = error_info(&status).unwrap_or_else(|| rpc::ErrorInfo {
        reason: code_name(code).to_owned(),
        ..Default::default()
    });
    let kind = match error_reasons::is_unavailable(&info.reason) {
        true => ErrorKind::Unavailable,
        false => ErrorKind::Request,
    };
    let delay = retry_after(&status);
    Error::new(kind, info.reason, status.message, code)
        .with_metadata(info.metadata)
        .with_retry_after(delay)
}

/// Whether gRPC libraries and proxies set the status code by themselves. Without a reason of
/// Sidecheck it then means that no Sidecheck server answered. All other codes are only ever set
/// by an application (gRPC, doc/statuscodes.md, doc/http-grpc-status-mapping.md and the codes
/// of RST_STREAM in doc/PROTOCOL-HTTP2.md).
fn may_be_absent(code: Code) -> bool {
    matches!(
        code,
        Code::Cancelled
            | Code::Unknown
            | Code::DeadlineExceeded
            | Code::PermissionDenied
            | Code::ResourceExhausted
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::Unauthenticated
    )
}

fn error_info(status: &rpc::Status) -> Option<rpc::ErrorInfo> {
    details::<rpc::ErrorInfo>(status, "google.rpc.ErrorInfo").find(|info| info.domain == DOMAIN)
}

fn retry_after(status: &rpc::Status) -> Option<Duration> {
    let retry = details::<rpc::RetryInfo>(status, "google.rpc.RetryInfo").next()?;
    Duration::try_from(retry.retry_delay.unwrap_or_default()).ok()
}

fn details<'a, M: Message + Default>(
    status: &'a rpc::Status,
    name: &'a str,
) -> impl Iterator<Item = M> + 'a {
    let has_name = move |url: &str| url.rsplit('/').next() == Some(name);
    let named = status
        .details
        .iter()
        .filter(move |detail| has_name(&detail.type_url));
    named.filter_map(|detail| M::decode(detail.value.as_slice()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::options::ClientOptions;

    fn peer() -> Peer {
        let address = Address::parse("localhost:1").unwrap();
        Peer::new("localhost:1", &address, &ClientOptions::default())
    }

    #[test]
    fn a_reset_at_the_deadline_is_its_expiry() {
        let peer = peer();
        let status = tonic::Status::cancelled("reset");
        let now = Instant::now();
        let later = now + Duration::from_secs(600);
        assert_eq!(
            call_error(&status, Some(now), &peer).reason(),
            "DEADLINE_EXCEEDED"
        );
        assert_eq!(
            call_error(&status, Some(later), &peer).reason(),
            "CANCELLED"
        );
        assert_eq!(call_error(&status, None, &peer).reason(), "CANCELLED");
    }

    #[test]
    fn a_request_that_is_too_large_is_no_absence() {
        for message in [
            "Received message larger than max (9 vs. 4)",
            "gRPC message exceeds maximum size 4: 9",
            "Error, decoded message length too large: found 9 bytes, the limit is: 4 bytes",
            "grpc-status header missing, mapped from HTTP status code 413",
        ] {
            let error = call_error(&tonic::Status::unknown(message), None, &peer());
            assert_eq!(error.kind(), &ErrorKind::Request, "{message}");
            assert_eq!(error.reason(), error_reasons::LIMIT_EXCEEDED, "{message}");
        }
    }
}
