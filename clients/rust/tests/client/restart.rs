//! A real server that is killed and comes back.

use std::process::Stdio;

use serde_json::{Value, json};
use sidecheck::{ErrorKind, Options, Schema, StreamOptions, Subject, Target};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::client;
use crate::settings::settings;

/// Starts a server, which is killed when it is dropped; its address.
async fn start(settings: &Value, listen: &str) -> (Child, String) {
    let command = settings["serve"].as_array().unwrap();
    let mut words = command.iter().map(|word| word.as_str().unwrap());
    let mut server = Command::new(words.next().unwrap())
        .args(words)
        .args(["--listen", listen, "--log-format", "json"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let Ok(line) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if line["event"] == "server.ready" {
            let address = line["addresses"][0].as_str().unwrap().to_owned();
            // The server must never wait for somebody to read its log.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (server, address);
        }
    }
    panic!("the server did not start");
}

#[tokio::test]
async fn a_server_that_is_killed_ends_its_streams_and_is_found_again() {
    let Some(settings) = settings() else {
        return;
    };
    let (mut server, address) = start(&settings, "127.0.0.1:0").await;
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

    let _server = start(&settings, &address).await;
    let verdict = client.validate(&target, json!([]), &options).await.unwrap();
    assert!(!verdict.valid);
}
