//! Sessions that callers leave, share, or whose server breaks them.

use futures_util::{future, poll};
use serde_json::{Value, json};
use sidecheck::SessionOptions;
use sidecheck::stubs::sidecheck::v1 as pb;
use sidecheck::{CheckOptions, Client, ErrorKind, ProtocolContext, Sender, Session};

use crate::client;
use crate::settings::settings;
use crate::stand_in::{Call, serve};

async fn open(client: &Client) -> Session {
    let protocol = client.protocol();
    let (context, options) = (ProtocolContext::default(), CheckOptions::default());
    let session = SessionOptions::default();
    protocol
        .session(&context, &options, &session)
        .await
        .unwrap()
}

fn ping(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

#[tokio::test]
async fn callers_of_a_session_may_share_it_and_leave() {
    let Some(settings) = settings() else {
        return;
    };
    let client = client(settings["servers"]["real"].as_str().unwrap());
    let session = open(&client).await;
    // Dropped while its message is with the server.
    assert!(poll!(Box::pin(session.check(ping(1), Sender::Client, None))).is_pending());
    let check = |id| session.check(ping(id), Sender::Client, None);
    let results = future::join_all([check(2), check(3), check(2)]).await;
    let codes = |index: usize| -> Vec<_> {
        let result = results[index].as_ref().unwrap();
        let violations = result.verdict.violations.iter();
        violations
            .map(|violation| violation.code.as_str())
            .collect()
    };
    assert!(!codes(1).contains(&"REQUEST_ID_REUSED"));
    assert!(codes(2).contains(&"REQUEST_ID_REUSED"), "{:?}", codes(2));
    session.finish().await.unwrap();
}

#[tokio::test]
async fn a_session_without_a_summary_is_an_invalid_response() {
    let address = serve(|mut call: Call| async move {
        while call.receive::<pb::CheckSessionRequest>().await.is_some() {}
        call.end("0", None);
    });
    let session = open(&client(&address.await)).await;
    let error = session.finish().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidResponse);
}

#[tokio::test]
async fn a_session_whose_server_is_lost_is_unavailable() {
    let address = serve(|mut call: Call| async move {
        call.receive::<pb::CheckSessionRequest>().await;
        call.receive::<pb::CheckSessionRequest>().await;
        call.end("14", None);
    });
    let session = open(&client(&address.await)).await;
    let lost = ErrorKind::StreamUnavailable(vec!["1".to_owned()]);
    for _ in 0..2 {
        let check = session.check(ping(1), Sender::Client, None);
        let error = check.await.unwrap_err();
        assert_eq!(error.kind(), &lost);
    }
    assert_eq!(session.finish().await.unwrap_err().kind(), &lost);
}
