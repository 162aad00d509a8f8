//! Nothing is left of calls and streams that callers leave. In a process of its own, because it
//! counts the open files of the process.

#[path = "support/settings.rs"]
mod settings;

use std::time::Duration;

use futures_util::{StreamExt, poll, stream};
use serde_json::json;
use sidecheck::{
    CheckOptions, Client, ClientOptions, Item, Options, ProtocolContext, Schema, Sender,
    SessionOptions, StreamOptions, Subject, Target, WatchOptions,
};

/// Time for which tasks and connections may take to end, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Times that each call is left.
const ROUNDS: usize = 20;

/// Tasks of the runtime and open files of the process.
#[derive(Clone, Copy, Debug)]
struct Held {
    tasks: usize,
    files: usize,
}

impl Held {
    fn count() -> Self {
        let handle = tokio::runtime::Handle::current();
        Self {
            tasks: handle.metrics().num_alive_tasks(),
            files: std::fs::read_dir("/proc/self/fd").unwrap().count(),
        }
    }

    /// Waits until there are no more than these.
    async fn wait(self, after: &str) {
        let wait = async {
            loop {
                let held = Self::count();
                if held.tasks <= self.tasks && held.files <= self.files {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        if tokio::time::timeout(PATIENCE, wait).await.is_err() {
            panic!("{self:?} before, {:?} after {after}", Self::count());
        }
    }
}

fn client(address: &str) -> Client {
    let options = ClientOptions {
        timeout: PATIENCE,
        ..ClientOptions::default()
    };
    Client::new(address, options).unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_is_left_of_what_callers_leave() {
    let Some(settings) = settings::settings() else {
        return;
    };
    let address = |name: &str| settings["servers"][name].as_str().unwrap().to_owned();
    let start = Held::count();

    let real = client(&address("real"));
    real.info().await.unwrap();
    let before = Held::count();
    for _ in 0..ROUNDS {
        leave_call(&real).await;
    }
    before.wait("calls").await;
    for _ in 0..ROUNDS {
        leave_stream(&real).await;
    }
    before.wait("streams").await;
    for _ in 0..ROUNDS {
        leave_session(&real).await;
    }
    before.wait("sessions").await;
    for _ in 0..ROUNDS {
        leave_watch(&real).await;
    }
    before.wait("watches").await;
    drop(real);
    start.wait("the client").await;

    let silent = client(&address("silent"));
    // Connects.
    let first = silent.with_timeout(Duration::from_millis(200)).info().await;
    assert!(first.unwrap_err().is_unavailable());
    let before = Held::count();
    for _ in 0..ROUNDS {
        leave_call(&silent).await;
    }
    before.wait("calls without an answer").await;
    for _ in 0..ROUNDS {
        let mut events = silent.watch(&WatchOptions::default()).boxed();
        assert!(poll!(events.next()).is_pending());
        tokio::task::yield_now().await;
    }
    before.wait("watches without an event").await;
    drop(silent);
    start.wait("the client of the silent server").await;
}

/// Drops a call that has begun.
async fn leave_call(client: &Client) {
    let schema = Schema::new(json!({}));
    let options = Options::default();
    let mut call = Box::pin(client.validate(schema, json!({}), &options));
    assert!(poll!(call.as_mut()).is_pending());
    tokio::task::yield_now().await;
}

/// Leaves a stream with items that have no outcome, by both halves and by the combined stream.
async fn leave_stream(client: &Client) {
    let target = Target::from(Schema::new(json!({})));
    let (options, stream_options) = (Options::default(), StreamOptions::default());
    let item = || Item::from(Subject::Arguments(json!({}).into()));
    let (mut sender, mut outcomes) = client
        .stream(Some(&target), &options, &stream_options)
        .await
        .unwrap();
    sender.send("1", item()).await.unwrap();
    outcomes.next().await.unwrap().unwrap();
    sender.send("2", item()).await.unwrap();
    drop(outcomes);

    let items = stream::repeat_with(|| ("1".to_owned(), item()));
    let mut outcomes = client
        .validate_stream(items, Some(&target), &options, &stream_options)
        .await
        .unwrap();
    outcomes.next().await.unwrap().unwrap();
}

async fn leave_session(client: &Client) {
    let session = client
        .protocol()
        .session(
            &ProtocolContext::default(),
            &CheckOptions::default(),
            &SessionOptions::default(),
        )
        .await
        .unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    session.check(ping, Sender::Client, None).await.unwrap();
}

/// Leaves a watch with events to come.
async fn leave_watch(client: &Client) {
    let mut events = client.watch(&WatchOptions::default()).boxed();
    events.next().await.unwrap().unwrap();
    // Usually pending.
    let _ = poll!(events.next());
}
