//! Watches of registered tools: their events, and what becomes of them when a server is lost.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use sidecheck::stubs::sidecheck::v1 as pb;
use sidecheck::{Checkpoint, Error, ErrorKind, ToolsChange, WatchEvent, WatchOptions};

use crate::stand_in::{Call, serve};
use crate::{PATIENCE, client};

pub type Events = std::pin::Pin<Box<dyn Stream<Item = Result<WatchEvent, Error>> + Send>>;

/// A watch of the server at `address`.
fn watch(address: &str, options: &WatchOptions) -> Events {
    client(address).watch(options).boxed()
}

pub async fn next(events: &mut Events) -> Result<WatchEvent, Error> {
    // A test that waits in vain fails.
    let event = tokio::time::timeout(PATIENCE, events.next()).await;
    event.unwrap().unwrap()
}

/// What a server does in a call: it sends responses, and ends with a status and its details.
type Script = (
    Vec<pb::WatchToolsResponse>,
    &'static str,
    Option<&'static str>,
);

/// A server whose calls are scripted.
#[derive(Clone)]
struct Scripted {
    calls: Arc<Mutex<VecDeque<Script>>>,
    requests: Arc<Mutex<Vec<pb::WatchToolsRequest>>>,
}

impl Scripted {
    /// Starts a server; its address.
    async fn start(calls: impl IntoIterator<Item = Script>) -> (Self, String) {
        let scripted = Self {
            calls: Arc::new(Mutex::new(calls.into_iter().collect())),
            requests: Arc::default(),
        };
        let server = scripted.clone();
        let address = serve(move |call| server.clone().respond(call)).await;
        (scripted, address)
    }

    async fn respond(self, mut call: Call) {
        assert_eq!(call.path, "/sidecheck.v1.RegistryService/WatchTools");
        let request = call.receive().await.unwrap();
        self.requests.lock().unwrap().push(request);
        let (responses, status, details) = self.calls.lock().unwrap().pop_front().unwrap();
        for response in responses {
            call.send(&response);
        }
        call.end(status, details);
    }

    fn requests(&self) -> Vec<pb::WatchToolsRequest> {
        self.requests.lock().unwrap().clone()
    }
}

/// The response for a checkpoint.
pub fn checkpoint(revision: u64) -> pb::WatchToolsResponse {
    let id = format!("id {revision}");
    let checkpoint = pb::RevisionCheckpoint { revision, id };
    response(pb::watch_tools_response::Event::Checkpoint(checkpoint))
}

/// The response for a change that registered a tool, and deleted one.
fn change(revision: u64, name: &str) -> pb::WatchToolsResponse {
    response(pb::watch_tools_response::Event::Change(pb::ToolsChange {
        deleted: vec!["gone".to_owned()],
        continued: false,
        ..part_of_change(revision, name)
    }))
}

/// The response for a part of a change, which registered a tool.
fn part(revision: u64, name: &str) -> pb::WatchToolsResponse {
    response(pb::watch_tools_response::Event::Change(part_of_change(
        revision, name,
    )))
}

fn part_of_change(revision: u64, name: &str) -> pb::ToolsChange {
    pb::ToolsChange {
        revision,
        id: format!("id {revision}"),
        server: "s".to_owned(),
        registered: vec![pb::Tool {
            name: name.to_owned(),
            json: b"{}".as_slice().into(),
            ..Default::default()
        }],
        continued: true,
        ..Default::default()
    }
}

fn response(event: pb::watch_tools_response::Event) -> pb::WatchToolsResponse {
    pb::WatchToolsResponse { event: Some(event) }
}

/// The event for a checkpoint.
pub fn checkpoint_event(revision: u64) -> WatchEvent {
    let id = format!("id {revision}");
    WatchEvent::Checkpoint(Checkpoint { revision, id })
}

/// The event for a change that registered tools, and deleted one.
fn change_event(revision: u64, names: &[&str]) -> WatchEvent {
    let tool = |name: &&str| sidecheck::Tool {
        name: (*name).to_owned(),
        json: b"{}".as_slice().into(),
        ..Default::default()
    };
    WatchEvent::Change(ToolsChange {
        revision,
        id: format!("id {revision}"),
        server: "s".to_owned(),
        registered: names.iter().map(tool).collect(),
        deleted: vec!["gone".to_owned()],
    })
}

/// A change of which a part was received is received again as a whole.
#[tokio::test]
async fn a_lost_watch_goes_on_where_it_was() {
    let (server, address) = Scripted::start([
        (
            vec![checkpoint(3), change(4, "a"), part(5, "b")],
            "14",
            None,
        ),
        (vec![], "13", None),
        (vec![part(5, "b"), change(5, "c")], "0", None),
        (vec![checkpoint(5)], "0", None),
    ])
    .await;
    let events: Vec<_> = watch(&address, &WatchOptions::default())
        .take(4)
        .map(Result::unwrap)
        .collect()
        .await;
    assert_eq!(
        events,
        [
            checkpoint_event(3),
            change_event(4, &["a"]),
            change_event(5, &["b", "c"]),
            checkpoint_event(5),
        ]
    );
    let request = |after_revision, after_id: &str| pb::WatchToolsRequest {
        servers: Vec::new(),
        after_revision,
        after_id: after_id.to_owned(),
    };
    assert_eq!(
        server.requests(),
        [
            request(None, ""),
            request(Some(4), "id 4"),
            request(Some(4), "id 4"),
            request(Some(5), "id 5"),
        ]
    );
}

#[tokio::test]
async fn a_watch_begins_after_a_checkpoint() {
    let (server, address) = Scripted::start([(vec![checkpoint(8)], "0", None)]).await;
    let options = WatchOptions {
        servers: vec!["a".to_owned(), "b".to_owned()],
        after: Some(change_event(0, &[]).checkpoint()),
        ..WatchOptions::default()
    };
    let mut events = watch(&address, &options);
    assert_eq!(next(&mut events).await, Ok(checkpoint_event(8)));
    let request = pb::WatchToolsRequest {
        servers: options.servers,
        after_revision: Some(0),
        after_id: "id 0".to_owned(),
    };
    assert_eq!(server.requests(), [request]);
}

/// A status that asks to try again in an hour, and is no answer of Sidecheck.
const IN_AN_HOUR: &str =
    "CA4SAXgaMQoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIFCgMIkBw";

#[tokio::test]
async fn errors_that_would_come_again_end_it() {
    let nameless = pb::ToolsChange {
        registered: vec![pb::Tool::default()],
        ..Default::default()
    };
    let nameless = response(pb::watch_tools_response::Event::Change(nameless));
    let cases: [(Script, ErrorKind, &str); 7] = [
        ((vec![], "11", None), ErrorKind::Request, "OUT_OF_RANGE"),
        (
            (vec![], "7", None),
            ErrorKind::Unavailable,
            "PERMISSION_DENIED",
        ),
        (
            (vec![], "16", None),
            ErrorKind::Unavailable,
            "UNAUTHENTICATED",
        ),
        (
            (vec![], "12", None),
            ErrorKind::Unavailable,
            "UNIMPLEMENTED",
        ),
        (
            (vec![], "14", Some(IN_AN_HOUR)),
            ErrorKind::Unavailable,
            "UNAVAILABLE",
        ),
        (
            (vec![pb::WatchToolsResponse::default()], "0", None),
            ErrorKind::InvalidResponse,
            "INVALID_RESPONSE",
        ),
        (
            (vec![nameless], "0", None),
            ErrorKind::InvalidResponse,
            "INVALID_RESPONSE",
        ),
    ];
    for (script, kind, reason) in cases {
        let (server, address) = Scripted::start([script]).await;
        let mut events = watch(&address, &WatchOptions::default());
        let error = next(&mut events).await.unwrap_err();
        assert_eq!((error.kind(), error.reason()), (&kind, reason));
        assert!(events.next().await.is_none(), "{reason}");
        assert_eq!(server.requests().len(), 1, "{reason}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_found_again_is_an_error() {
    let cases = [
        (
            Duration::from_millis(200),
            ErrorKind::Unavailable,
            "UNAVAILABLE",
        ),
        (
            Duration::ZERO,
            ErrorKind::InvalidArgument,
            "INVALID_ARGUMENT",
        ),
    ];
    for (patience, kind, reason) in cases {
        let options = WatchOptions {
            patience,
            ..WatchOptions::default()
        };
        let mut events = watch("127.0.0.1:1", &options);
        let error = next(&mut events).await.unwrap_err();
        assert_eq!((error.kind(), error.reason()), (&kind, reason));
        assert!(events.next().await.is_none());
    }
}
