//! The calls of watches: the token that each has, and their end with the watch or the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt, future, poll};
use sidecheck::stubs::sidecheck::v1::{self as pb, watch_tools_response::Event};
use sidecheck::{Client, ClientOptions, Token, WatchOptions};
use tokio::sync::Notify;

use crate::stand_in::serve;
use crate::watching::{checkpoint, checkpoint_event, next};
use crate::{PATIENCE, client};

#[tokio::test]
async fn each_connection_of_a_watch_has_a_token_of_its_own() {
    let address = serve(|mut call| async move {
        let checkpoint = pb::RevisionCheckpoint {
            id: call.authorization.clone().unwrap(),
            ..Default::default()
        };
        call.send(&pb::WatchToolsResponse {
            event: Some(Event::Checkpoint(checkpoint)),
        });
        call.end("14", None);
    });
    let asked = AtomicUsize::new(0);
    let token = Token::from_fn(move || asked.fetch_add(1, Ordering::SeqCst).to_string());
    let options = ClientOptions {
        token: Some(token),
        ..ClientOptions::default()
    };
    let client = Client::new(&address.await, options).unwrap();
    let events = client.watch(&WatchOptions::default()).take(2);
    let tokens = events.map(|event| event.unwrap().checkpoint().id);
    let tokens: Vec<_> = tokens.collect().await;
    assert_eq!(tokens, ["Bearer 0", "Bearer 1"]);
}

/// A server that sends a checkpoint, and then waits until it is left; what it then notifies.
async fn silent_after_checkpoint() -> (String, Arc<Notify>) {
    let left = Arc::new(Notify::new());
    let notify = Arc::clone(&left);
    let address = serve(move |mut call| {
        let notify = Arc::clone(&notify);
        async move {
            call.send(&checkpoint(1));
            call.is_left().await;
            notify.notify_one();
        }
    });
    (address.await, left)
}

#[tokio::test]
async fn leaving_a_watch_cancels_its_call() {
    let (address, left) = silent_after_checkpoint().await;
    let client = client(&address);
    let mut events = client.watch(&WatchOptions::default()).boxed();
    assert_eq!(next(&mut events).await, Ok(checkpoint_event(1)));
    assert!(poll!(events.next()).is_pending());
    drop(events);
    tokio::time::timeout(PATIENCE, left.notified())
        .await
        .unwrap();
}

#[tokio::test]
async fn closing_the_client_ends_its_watches() {
    let (address, left) = silent_after_checkpoint().await;
    let client = client(&address);
    let mut events = client.watch(&WatchOptions::default()).boxed();
    assert_eq!(next(&mut events).await, Ok(checkpoint_event(1)));
    let close = async { client.close() };
    let (event, ()) = future::join(next(&mut events), close).await;
    assert_eq!(event.unwrap_err().reason(), "CLIENT_CLOSED");
    assert!(events.next().await.is_none());
    tokio::time::timeout(PATIENCE, left.notified())
        .await
        .unwrap();
    let mut events = client.watch(&WatchOptions::default()).boxed();
    let error = next(&mut events).await.unwrap_err();
    assert_eq!(error.reason(), "CLIENT_CLOSED");
}
