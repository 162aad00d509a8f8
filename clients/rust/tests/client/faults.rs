//! Connections and calls that servers and proxies break, and what of it is retried.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use h2::Reason;
use serde_json::json;
use sidecheck::{Error, ErrorKind, Options, Schema, Verdict};

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
async fn a_call_on_a_connection_that_the_server_closes_is_retried() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(socket).await.unwrap();
        let _call = connection.accept().await.unwrap().unwrap();
        connection.abrupt_shutdown(Reason::NO_ERROR);
        // Sends the frame.
        while let Some(Ok(_)) = connection.accept().await {}
        let (socket, _) = listener.accept().await.unwrap();
        serve_connection(socket, |call| async { call.validate() }).await;
    });
    assert!(validate(&address).await.unwrap().valid);
}
