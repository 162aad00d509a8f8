//! The client with servers of the tests, which fail in all ways, and with a real one that is
//! killed.

mod addresses;
mod calls;
mod comparison;
mod faults;
mod mirror;
mod restart;
#[path = "../support/server.rs"]
mod server;
mod sessions;
#[path = "../support/settings.rs"]
mod settings;
mod stand_in;
mod streams;
mod tokens;
mod watch_calls;
mod watching;

use std::time::Duration;

use sidecheck::{Client, ClientOptions};

/// Deadline of calls that must succeed, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// A patient client of the server at `address`.
fn client(address: &str) -> Client {
    let options = ClientOptions {
        timeout: PATIENCE,
        ..ClientOptions::default()
    };
    Client::new(address, options).unwrap()
}

/// Waits until `is_true`, which depends on other tasks or processes.
async fn eventually(is_true: impl Fn() -> bool) {
    let wait = async {
        while !is_true() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap();
}
