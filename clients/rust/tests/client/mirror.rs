//! Mirrors of the registry of a real server, which follow it by a watch.

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, future};
use serde_json::json;
use sidecheck::{Checkpoint, Client, RegisterOptions, ToolDefinition, WatchEvent, WatchOptions};

use crate::server::start;
use crate::settings::settings;
use crate::{PATIENCE, client};

fn tool(name: &str, description: &str) -> ToolDefinition {
    let schema = json!({"type": "object"});
    ToolDefinition::new(json!({
        "name": name,
        "description": description,
        "inputSchema": schema,
    }))
}

async fn register(client: &Client, server: &str, tools: Vec<ToolDefinition>) -> u64 {
    let options = RegisterOptions::default();
    let registration = client.register(server, tools, &options).await.unwrap();
    registration.registry_revision
}

/// By a checkpoint, a list, and the changes since.
#[tokio::test]
async fn a_registry_is_mirrored() {
    let Some(settings) = settings() else {
        return;
    };
    let (_server, address) = start(&settings, "127.0.0.1:0", &[]).await;
    let client = client(&address);
    let options = WatchOptions {
        servers: vec!["s".to_owned()],
        ..WatchOptions::default()
    };
    let mut events = client.watch(&options).boxed();
    let begun = events.next().await.unwrap().unwrap();
    assert_eq!(begun, WatchEvent::Checkpoint(begun.checkpoint()));

    register(&client, "s", vec![tool("a", "first"), tool("b", "first")]).await;
    register(&client, "other", vec![tool("a", "other")]).await;
    let listed = client
        .list("s", "")
        .map_ok(|tool| (tool.name.clone(), tool));
    let mut mirror: BTreeMap<_, _> = listed.try_collect().await.unwrap();
    client.delete("s", ["b"]).await.unwrap();
    let last = register(&client, "s", vec![tool("a", "changed")]).await;

    let mut changes = Vec::new();
    loop {
        match events.next().await.unwrap().unwrap() {
            WatchEvent::Change(change) => {
                changes.push(change.clone());
                let registered = change.registered.into_iter();
                mirror.extend(registered.map(|tool| (tool.name.clone(), tool)));
                for name in change.deleted {
                    mirror.remove(&name);
                }
            }
            WatchEvent::Checkpoint(checkpoint) if checkpoint.revision == last => {
                assert_eq!(changes.last().unwrap().checkpoint(), checkpoint);
                break;
            }
            WatchEvent::Checkpoint(_) => {}
        }
    }
    let current = client.get("s", "a", "").await.unwrap();
    assert_eq!(mirror, BTreeMap::from([("a".to_owned(), current)]));
    let servers: Vec<_> = changes.iter().map(|change| &change.server[..]).collect();
    assert_eq!(servers, ["s"; 3]);

    // The changes after an earlier event are the same again.
    let options = WatchOptions {
        after: Some(begun.checkpoint()),
        ..options
    };
    let again = client.watch(&options).take(4);
    let again: Vec<_> = again.map(Result::unwrap).collect().await;
    let mut expected: Vec<_> = changes.into_iter().map(WatchEvent::Change).collect();
    expected.push(WatchEvent::Checkpoint(expected[2].checkpoint()));
    assert_eq!(again, expected);
}

#[tokio::test]
async fn changes_that_are_not_kept_end_a_watch() {
    let Some(settings) = settings() else {
        return;
    };
    let (mut server, address) = start(&settings, "127.0.0.1:0", &[]).await;
    let client = client(&address);
    let options = WatchOptions {
        after: Some(Checkpoint {
            revision: 0,
            id: "of another registry".to_owned(),
        }),
        ..WatchOptions::default()
    };
    let mut events = client.watch(&options).boxed();
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.reason(), "COMPACTED");

    // A registry in memory begins anew with its server.
    register(&client, "s", vec![tool("a", "first")]).await;
    let options = WatchOptions {
        patience: PATIENCE,
        ..WatchOptions::default()
    };
    let mut events = client.watch(&options).boxed();
    events.next().await.unwrap().unwrap();
    server.kill().await.unwrap();
    let _server = start(&settings, &address, &[]).await;
    let end = events.try_for_each(|_| future::ready(Ok(()))).await;
    let error = end.unwrap_err();
    assert_eq!(error.reason(), "COMPACTED");
}
