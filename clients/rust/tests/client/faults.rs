//! Connections and calls that servers and proxies break, and what of it is retried.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use h2::Reason;
use serde_json::json;
use sidecheck::{Error, ErrorKind, Options, Schema, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client;
use crate::stand_in::{Call, listen, serve, serve_connection};

async fn validate(address: &str) -> Result<Verdict, Error> {
    let schema = Schema::new(json!(true));
    client(address)
        .validate(schema, json!({}), &Options::default())
        .await
}

/// How an attempt fails, and the error.
type Failure = (fn(Call), ErrorKind, &'static str);

/// A server whose first attempt ends by `fail`; the number of its attempts.
async fn failing_once(fail: fn(Call)) -> (String, Arc<AtomicUsize>) {
    let attempts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&attempts);
    let address = serve(move |call| {
        let attempt = counter.fetch_add(1, Ordering::SeqCst);
        async move {
            match attempt {
                0 => fail(call),
                _ => call.validate(),
            }
        }
    });
    (address.await, attempts)
}

#[tokio::test]
async fn a_call_that_was_not_processed_is_retried() {
    let failures: [fn(Call); 3] = [
        |call| call.reset(Reason::REFUSED_STREAM),
        |call| call.end("14", None),
        |call| call.send_page(503),
    ];
    for fail in failures {
        let (address, attempts) = failing_once(fail).await;
        assert!(validate(&address).await.unwrap().valid);
        assert_eq!(attempts.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn a_call_is_not_retried_if_the_server_forbids_it() {
    let failures: [(fn(Call), usize); 3] = [
        (|call| call.push_back("14", "-1"), 1),
        (|call| call.push_back("14", "never"), 1),
        (|call| call.push_back("14", "1"), 2),
    ];
    for (fail, attempts_wanted) in failures {
        let (address, attempts) = failing_once(fail).await;
        assert_eq!(validate(&address).await.is_ok(), attempts_wanted == 2);
        assert_eq!(attempts.load(Ordering::SeqCst), attempts_wanted);
    }
}

#[tokio::test]
async fn a_call_that_is_refused_is_sent_again_as_often_as_its_deadline_allows() {
    const REFUSALS: usize = 8;
    let attempts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&attempts);
    let address = serve(move |call| {
        let attempt = counter.fetch_add(1, Ordering::SeqCst);
        async move {
            match attempt {
                0..REFUSALS => call.reset(Reason::REFUSED_STREAM),
                _ => call.validate(),
            }
        }
    });
    assert!(validate(&address.await).await.unwrap().valid);
    assert_eq!(attempts.load(Ordering::SeqCst), REFUSALS + 1);
}

#[tokio::test]
async fn other_failures_are_not_retried() {
    let cases: [Failure; 6] = [
        (
            |call| call.reset(Reason::CANCEL),
            ErrorKind::Unavailable,
            "CANCELLED",
        ),
        (
            |call| call.reset(Reason::INTERNAL_ERROR),
            ErrorKind::Unavailable,
            "INTERNAL",
        ),
        (
            |call| call.send_page(404),
            ErrorKind::Unavailable,
            "UNIMPLEMENTED",
        ),
        (
            |call| call.send_page(413),
            ErrorKind::Request,
            "LIMIT_EXCEEDED",
        ),
        // tonic panics at details that are not Base64.
        (
            |call| call.end("5", Some("%")),
            ErrorKind::Request,
            "NOT_FOUND",
        ),
        (
            |call| call.end_in_headers("5", "%"),
            ErrorKind::Request,
            "NOT_FOUND",
        ),
    ];
    for (fail, kind, reason) in cases {
        let (address, attempts) = failing_once(fail).await;
        let error = validate(&address).await.unwrap_err();
        assert_eq!((error.kind(), error.reason()), (&kind, reason));
        assert_eq!(attempts.load(Ordering::SeqCst), 1, "{reason}");
    }
}

#[tokio::test]
async fn a_call_on_a_connection_that_is_lost_is_retried() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        // Closed while the client expects the server's settings, and then with a call pending.
        drop(listener.accept().await.unwrap());
        let (socket, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(socket).await.unwrap();
        let call = connection.accept().await.unwrap().unwrap();
        drop((connection, call));
        let (socket, _) = listener.accept().await.unwrap();
        serve_connection(socket, |call| async { call.validate() }).await;
    });
    assert!(validate(&address).await.unwrap().valid);
}

#[tokio::test]
async fn a_call_that_a_closing_server_did_not_process_is_retried() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(SETTINGS).await.unwrap();
        let mut preface = [0; 24];
        socket.read_exact(&mut preface).await.unwrap();
        while read_frame_type(&mut socket).await != HEADERS {}
        socket.write_all(GOAWAY).await.unwrap();
        let (next, _) = listener.accept().await.unwrap();
        serve_connection(next, |call| async { call.validate() }).await;
    });
    assert!(validate(&address).await.unwrap().valid);
}

/// Type of a frame (RFC 9113, section 6.2).
const HEADERS: u8 = 1;

/// A frame without settings (RFC 9113, section 6.5).
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

/// A frame with the last stream 0 and the code NO_ERROR (RFC 9113, section 6.8).
const GOAWAY: &[u8] = b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Reads a frame (RFC 9113, section 4.1), and returns its type.
async fn read_frame_type(socket: &mut TcpStream) -> u8 {
    let mut header = [0; 9];
    socket.read_exact(&mut header).await.unwrap();
    let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
    let mut payload = vec![0; length as usize];
    socket.read_exact(&mut payload).await.unwrap();
    header[3]
}
