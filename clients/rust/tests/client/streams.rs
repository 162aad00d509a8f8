//! Streams, with servers that answer, break them, or are left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, future, poll, stream};
use serde_json::json;
use sidecheck::stubs::sidecheck::v1 as pb;
use sidecheck::{Client, Code, ErrorKind, Item, Options, StreamOptions, Subject};
use sidecheck::{StreamOutcomes, StreamSender};
use tokio::sync::Notify;

use crate::stand_in::{Call, listen, response, serve, serve_connection};
use crate::{PATIENCE, client, eventually};

fn item() -> Item {
    Subject::Arguments(json!({}).into()).into()
}

async fn open(client: &Client, outstanding: usize) -> (StreamSender, StreamOutcomes) {
    let options = StreamOptions {
        outstanding,
        // A test that waits in vain fails.
        timeout: Some(PATIENCE),
    };
    client
        .stream(None, &Options::default(), &options)
        .await
        .unwrap()
}

/// A server that reads a stream and responds to its first item only.
struct Reader {
    address: String,
    items: Arc<AtomicUsize>,
    /// Whether the client has ended or cancelled the stream.
    left: Arc<AtomicBool>,
}

impl Reader {
    async fn start() -> Self {
        let (items, left) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (counter, flag) = (Arc::clone(&items), Arc::clone(&left));
        let address = serve(move |mut call: Call| {
            let (counter, flag) = (Arc::clone(&counter), Arc::clone(&flag));
            async move {
                // The defaults.
                call.receive::<pb::ValidateStreamRequest>().await;
                while call.receive::<pb::ValidateStreamRequest>().await.is_some() {
                    if counter.fetch_add(1, Ordering::SeqCst) == 0 {
                        call.send(&response("1"));
                    }
                }
                flag.store(true, Ordering::SeqCst);
                // Dropping the call would cancel it.
                future::pending::<()>().await;
            }
        });
        let address = address.await;
        Self {
            address,
            items,
            left,
        }
    }

    /// Waits until the server has as many items.
    async fn has_read(&self, count: usize) {
        eventually(|| self.items.load(Ordering::SeqCst) == count).await;
        assert!(!self.left.load(Ordering::SeqCst));
    }

    async fn is_left(&self) {
        eventually(|| self.left.load(Ordering::SeqCst)).await;
    }
}

#[tokio::test]
async fn outcomes_are_in_order_with_those_of_items_that_are_too_large() {
    let address = serve(|call| call.echo_items(|id| id)).await;
    let large = Subject::Arguments(json!("x".repeat(2 << 20)).into());
    let items = [("a", item()), ("a", large.into()), ("", item())];
    let items = items.map(|(id, item)| (id.to_owned(), item));
    let (client, stream_options) = (client(&address), StreamOptions::default());
    let outcomes = client
        .validate_stream(
            stream::iter(items),
            None,
            &Options::default(),
            &stream_options,
        )
        .await
        .unwrap();
    let outcomes: Vec<_> = outcomes.map(Result::unwrap).collect().await;
    let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.id.as_str()).collect();
    assert_eq!(ids, ["a", "a", ""]);
    assert!(outcomes[0].outcome.is_ok() && outcomes[2].outcome.is_ok());
    let error = outcomes[1].outcome.as_ref().unwrap_err();
    assert_eq!(error.reason(), "LIMIT_EXCEEDED");
    assert_eq!(error.metadata()["limit"], (1 << 20).to_string());
}

#[tokio::test]
async fn a_sender_waits_for_the_reader() {
    let address = serve(|call| call.echo_items(|id| id)).await;
    let (mut sender, mut outcomes) = open(&client(&address), 2).await;
    sender.send("0", item()).await.unwrap();
    sender.send("1", item()).await.unwrap();
    for index in 2..10 {
        let id = index.to_string();
        let mut sending = Box::pin(sender.send(&id, item()));
        assert!(poll!(sending.as_mut()).is_pending());
        let outcome = outcomes.next().await.unwrap().unwrap();
        assert_eq!(outcome.id, (index - 2).to_string());
        sending.await.unwrap();
    }
    // A call that is dropped while it waits sends nothing.
    assert!(poll!(Box::pin(sender.send("dropped", item()))).is_pending());
    sender.finish();
    let rest: Vec<_> = outcomes.map(|outcome| outcome.unwrap().id).collect().await;
    assert_eq!(rest, ["8", "9"]);
}

#[tokio::test]
async fn a_stream_that_breaks_the_order_or_ends_early_is_closed() {
    let out_of_order = serve(|call| call.echo_items(|_| "other".to_owned())).await;
    let early = serve(|mut call: Call| async move {
        call.receive::<pb::ValidateStreamRequest>().await;
        call.receive::<pb::ValidateStreamRequest>().await;
        call.end("0", None);
    });
    let without_outcome = serve(|mut call: Call| async move {
        call.receive::<pb::ValidateStreamRequest>().await;
        call.receive::<pb::ValidateStreamRequest>().await;
        call.send(&pb::ValidateStreamResponse::default());
        future::pending::<()>().await;
    });
    for address in [out_of_order, early.await, without_outcome.await] {
        let (mut sender, mut outcomes) = open(&client(&address), 1).await;
        sender.send("1", item()).await.unwrap();
        // It waits for the outcome of the first, and must not wait forever.
        let waiting = sender.send("2", item()).await.unwrap_err();
        let error = outcomes.next().await.unwrap().unwrap_err();
        for error in [waiting, error] {
            assert_eq!(error.kind(), &ErrorKind::StreamClosed(vec!["1".to_owned()]));
            assert_eq!(error.reason(), "INVALID_RESPONSE");
        }
        assert!(outcomes.next().await.is_none());
    }
}

#[tokio::test]
async fn a_stream_whose_connection_is_lost_is_unavailable() {
    let (listener, address) = listen().await;
    let lose = Arc::new(Notify::new());
    let lost = Arc::clone(&lose);
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let respond = |mut call: Call| async move {
            for _ in 0..4 {
                call.receive::<pb::ValidateStreamRequest>().await;
            }
            call.send(&response("1"));
            future::pending::<()>().await;
        };
        // Dropping the connection closes it.
        tokio::select! {
            () = serve_connection(socket, respond) => {}
            () = lost.notified() => {}
        }
    });
    let (mut sender, mut outcomes) = open(&client(&address), 8).await;
    for id in ["1", "2", "3"] {
        sender.send(id, item()).await.unwrap();
    }
    assert_eq!(outcomes.next().await.unwrap().unwrap().id, "1");
    lose.notify_one();
    let error = outcomes.next().await.unwrap().unwrap_err();
    let unanswered = ["2", "3"].map(str::to_owned).to_vec();
    assert_eq!(error.kind(), &ErrorKind::StreamUnavailable(unanswered));
    assert_eq!(error.code(), Code::Unavailable);
    assert!(outcomes.next().await.is_none());
}

#[tokio::test]
async fn leaving_a_stream_cancels_its_call() {
    let server = Reader::start().await;
    let (mut sender, mut outcomes) = open(&client(&server.address), 1).await;
    sender.send("1", item()).await.unwrap();
    outcomes.next().await.unwrap().unwrap();
    sender.send("2", item()).await.unwrap();
    server.has_read(2).await;
    let leave = async { drop(outcomes) };
    let (waiting, ()) = future::join(sender.send("3", item()), leave).await;
    let error = waiting.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::StreamClosed(vec!["2".to_owned()]));
    assert_eq!(error.code(), Code::Cancelled);
    // The sender is still there.
    server.is_left().await;
    assert!(sender.send("4", item()).await.is_err());
}

#[tokio::test]
async fn leaving_a_stream_of_items_cancels_its_call() {
    let server = Reader::start().await;
    let items = stream::iter([("1".to_owned(), item())]).chain(stream::pending());
    let (client, stream_options) = (client(&server.address), StreamOptions::default());
    let mut outcomes = client
        .validate_stream(items, None, &Options::default(), &stream_options)
        .await
        .unwrap();
    outcomes.next().await.unwrap().unwrap();
    server.has_read(1).await;
    drop(outcomes);
    server.is_left().await;
}

#[tokio::test]
async fn closing_the_client_ends_its_streams() {
    let server = Reader::start().await;
    let client = client(&server.address);
    let (mut sender, mut outcomes) = open(&client, 2).await;
    sender.send("1", item()).await.unwrap();
    sender.send("2", item()).await.unwrap();
    outcomes.next().await.unwrap().unwrap();
    server.has_read(2).await;
    client.close();
    let error = outcomes.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::StreamClosed(vec!["2".to_owned()]));
    assert_eq!(error.reason(), "CLIENT_CLOSED");
    server.is_left().await;
    let opened = client
        .stream(None, &Options::default(), &StreamOptions::default())
        .await;
    assert_eq!(opened.err().unwrap().reason(), "CLIENT_CLOSED");
}

#[tokio::test]
async fn a_stream_has_the_deadline_that_it_is_given() {
    let server = Reader::start().await;
    let options = StreamOptions {
        timeout: Some(Duration::from_secs(1)),
        ..StreamOptions::default()
    };
    let client = client(&server.address);
    // On a busy machine the call that opens the stream may expire as well.
    match client.stream(None, &Options::default(), &options).await {
        Ok((_sender, mut outcomes)) => {
            let error = outcomes.next().await.unwrap().unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::StreamUnavailable(Vec::new()));
            assert_eq!(error.reason(), "DEADLINE_EXCEEDED");
        }
        Err(error) => assert_eq!(error.reason(), "DEADLINE_EXCEEDED"),
    }
}

#[tokio::test]
async fn the_outstanding_items_are_at_least_one() {
    let options = StreamOptions {
        outstanding: 0,
        ..StreamOptions::default()
    };
    let client = client("localhost:1");
    let opened = client.stream(None, &Options::default(), &options).await;
    assert_eq!(opened.err().unwrap().kind(), &ErrorKind::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_halves_may_be_in_tasks_of_their_own() {
    let address = serve(|call| call.echo_items(|id| id)).await;
    let (mut sender, outcomes) = open(&client(&address), 4).await;
    let sending = tokio::spawn(async move {
        for index in 0..100 {
            sender.send(&index.to_string(), item()).await.unwrap();
        }
    });
    let ids = outcomes.map(|outcome| outcome.unwrap().id).collect();
    let ids: Vec<String> = tokio::spawn(ids).await.unwrap();
    sending.await.unwrap();
    let expected: Vec<_> = (0..100).map(|index: u32| index.to_string()).collect();
    assert_eq!(ids, expected);
}
