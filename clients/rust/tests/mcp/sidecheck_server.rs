//! Servers of Sidecheck, as `tests/conformance` provides them.

use std::process::Stdio;

use serde_json::Value;
use sidecheck::{Client, ClientOptions, OnUnavailable};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Returns the settings of the shared cases; `None` skips the test.
pub fn settings() -> Option<Value> {
    let Some(path) = std::env::var_os("SIDECHECK_CONFORMANCE") else {
        let required = std::env::var("SIDECHECK_REQUIRE_ALL").is_ok_and(|value| value == "1");
        let reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance";
        assert!(!required, "{reason}");
        eprintln!("skipped: {reason}");
        return None;
    };
    Some(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

/// A client of the shared server; `None` skips the test.
pub fn shared_server() -> Option<Client> {
    let settings = settings()?;
    Some(patient_client(
        settings["servers"]["real"].as_str().unwrap(),
        OnUnavailable::Error,
    ))
}

pub fn patient_client(address: &str, on_unavailable: OnUnavailable) -> Client {
    let timeout = Duration::from_secs(120);
    Client::new(
        address,
        ClientOptions {
            timeout,
            on_unavailable,
            ..ClientOptions::default()
        },
    )
    .unwrap()
}

/// A server of a test alone, which is killed when it is dropped.
pub struct SidecheckServer {
    pub address: String,
    process: Child,
}

impl SidecheckServer {
    /// Starts a server at `address`, whose port may be 0.
    pub async fn start(settings: &Value, address: &str, environment: &[(&str, &str)]) -> Self {
        let command: Vec<_> = settings["serve"].as_array().unwrap().iter().collect();
        let mut process = Command::new(command[0].as_str().unwrap())
            .args(
                command[1..]
                    .iter()
                    .map(|argument| argument.as_str().unwrap()),
            )
            .args(["--listen", address])
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next_line().await.unwrap().expect("the server starts");
            let event = serde_json::from_str::<Value>(&line).unwrap_or_default();
            if event["event"] == "server.ready" {
                break event["addresses"][0].as_str().unwrap().to_owned();
            }
        };
        // A full pipe would stop the server.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { address, process }
    }

    pub async fn stop(mut self) {
        self.process.kill().await.unwrap();
    }
}
