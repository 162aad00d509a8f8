//! A real server that is killed and comes back.

use serde_json::json;
use sidecheck::{ErrorKind, Options, Schema, StreamOptions, Subject, Target};
use tokio::process::Command;

use crate::client;
use crate::server::start;
use crate::settings::settings;

#[tokio::test]
async fn a_server_that_is_killed_ends_its_streams_and_is_found_again() {
    let Some(settings) = settings() else {
        return;
    };
    let (mut server, address) = start(&settings, "127.0.0.1:0", &[]).await;
    let client = client(&address);
    let target = Target::from(Schema::new(json!({"type": "object"})));
    let options = Options::default();
    let (mut sender, mut outcomes) = client
        .stream(Some(&target), &options, &StreamOptions::default())
        .await
        .unwrap();
    let arguments = || Subject::Arguments(json!({}).into());
    sender.send("answered", arguments()).await.unwrap();
    assert!(outcomes.next().await.unwrap().unwrap().outcome.is_ok());

    let pid = server.id().unwrap().to_string();
    // A stopped process answers nothing.
    let stop = Command::new("kill").args(["-STOP", &pid]).status();
    assert!(stop.await.unwrap().success());
    sender.send("1", arguments()).await.unwrap();
    sender.send("2", arguments()).await.unwrap();
    server.kill().await.unwrap();
    let error = outcomes.next().await.unwrap().unwrap_err();
    let unanswered = ["1", "2"].map(str::to_owned).to_vec();
    assert_eq!(error.kind(), &ErrorKind::StreamUnavailable(unanswered));
    assert_eq!(error.reason(), "UNAVAILABLE");

    let _server = start(&settings, &address, &[]).await;
    let verdict = client.validate(&target, json!([]), &options).await.unwrap();
    assert!(!verdict.valid);
}
