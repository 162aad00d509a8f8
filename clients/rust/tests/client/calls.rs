//! Calls without a server, or with one that accepts connections and never answers.

use std::time::Duration;

use serde_json::json;
use sidecheck::stubs::sidecheck::v1 as pb;
use sidecheck::{
    Client, ClientOptions, Code, ErrorKind, OnUnavailable, Options, RegisterOptions, Schema,
};

use crate::stand_in::listen;

fn schema() -> Schema {
    Schema::new(json!({"type": "object"}))
}

#[test]
fn bad_arguments_are_errors_at_construction() {
    let options = ClientOptions {
        timeout: Duration::ZERO,
        ..ClientOptions::default()
    };
    for result in [
        Client::new("localhost", ClientOptions::default()),
        Client::new("localhost:1", options),
        #[cfg(feature = "tls")]
        Client::new("unix:/socket", with_tls()),
    ] {
        assert_eq!(result.err().unwrap().kind(), &ErrorKind::InvalidArgument);
    }
}

#[cfg(feature = "tls")]
fn with_tls() -> ClientOptions {
    ClientOptions {
        tls: Some(sidecheck::Tls::default()),
        ..ClientOptions::default()
    }
}

#[tokio::test]
async fn a_call_without_time_is_an_error() {
    let client = Client::new("localhost:1", ClientOptions::default()).unwrap();
    let error = client
        .with_timeout(Duration::ZERO)
        .info()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn a_closed_client_rejects_calls() {
    let (_listener, address) = listen().await;
    let client = Client::new(&address, ClientOptions::default()).unwrap();
    client.close();
    let error = client.info().await.unwrap_err();
    assert_eq!(
        (error.reason(), error.code()),
        ("CLIENT_CLOSED", Code::Cancelled)
    );
}

#[tokio::test]
async fn a_registration_has_a_longer_deadline() {
    let address = crate::stand_in::serve(|mut call| async {
        // Longer than the shortest deadline, which the clock rounds up to a millisecond.
        tokio::time::sleep(Duration::from_millis(50)).await;
        call.send(&pb::RegisterToolsResponse::default());
        call.end("0", None);
    });
    let options = ClientOptions {
        timeout: Duration::from_nanos(1),
        ..ClientOptions::default()
    };
    let client = Client::new(&address.await, options).unwrap();
    let options = RegisterOptions::default();
    client.register("server", [], &options).await.unwrap();

    let client = client.with_timeout(Duration::from_nanos(1));
    let error = client.register("server", [], &options).await.unwrap_err();
    assert_eq!(error.reason(), "DEADLINE_EXCEEDED");
}

#[tokio::test]
async fn the_longest_deadline_is_as_good_as_none() {
    let address = crate::stand_in::serve(|call| async { call.validate() });
    let client = crate::client(&address.await);
    for timeout in [Duration::MAX, Duration::from_secs(1 << 45)] {
        client.with_timeout(timeout).info().await.unwrap();
        let options = sidecheck::StreamOptions {
            timeout: Some(timeout),
            ..sidecheck::StreamOptions::default()
        };
        let opened = client.stream(None, &Options::default(), &options).await;
        assert!(opened.is_ok());
    }
}

#[tokio::test]
async fn closing_ends_pending_calls() {
    let (listener, address) = listen().await;
    let options = ClientOptions {
        timeout: Duration::from_secs(600),
        ..ClientOptions::default()
    };
    let client = Client::new(&address, options).unwrap();
    let close_when_called = async {
        let _connection = listener.accept().await.unwrap();
        client.close();
    };
    let (result, ()) = futures_util::future::join(client.info(), close_when_called).await;
    assert_eq!(result.unwrap_err().reason(), "CLIENT_CLOSED");
}

#[tokio::test]
async fn an_expired_deadline_is_unavailable() {
    let (_listener, address) = listen().await;
    let client = Client::new(&address, ClientOptions::default()).unwrap();
    let error = client
        .with_timeout(Duration::from_millis(50))
        .info()
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.reason()),
        (&ErrorKind::Unavailable, "DEADLINE_EXCEEDED")
    );
}

#[tokio::test]
async fn the_policy_decides_where_no_server_answers() {
    for (policy, valid) in [(OnUnavailable::Allow, true), (OnUnavailable::Deny, false)] {
        let options = ClientOptions {
            timeout: Duration::from_millis(50),
            on_unavailable: policy,
            ..ClientOptions::default()
        };
        let (_listener, address) = listen().await;
        let client = Client::new(&address, options).unwrap();
        let verdict = client
            .validate(schema(), json!({}), &Options::default())
            .await
            .unwrap();
        assert_eq!(verdict.valid, valid);
        assert_eq!(verdict.violations[0].code, "SIDECHECK_UNAVAILABLE");
        assert_eq!(verdict.into_result().is_ok(), valid);
    }
}
