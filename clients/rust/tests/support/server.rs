//! Real servers of one test.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Starts a server, which is killed when it is dropped; its address.
pub async fn start(
    settings: &Value,
    listen: &str,
    environment: &[(&str, &str)],
) -> (Child, String) {
    let command = settings["serve"].as_array().unwrap();
    let mut words = command.iter().map(|word| word.as_str().unwrap());
    let mut server = Command::new(words.next().unwrap())
        .args(words)
        .args(["--listen", listen, "--log-format", "json"])
        .envs(environment.iter().copied())
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
