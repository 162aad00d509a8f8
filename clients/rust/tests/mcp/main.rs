//! MCP servers of the official SDK whose calls are validated, with its client.
#![cfg(feature = "rmcp")]

mod echo;
#[path = "../support/server.rs"]
mod server;
#[path = "../support/settings.rs"]
mod settings;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use echo::{Echo, Session, broken, connect, connect_with, repeat, tool};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ErrorCode, ProtocolVersion, Tool};
use rmcp::service::{ClientLifecycleMode, PeerRequestOptions, ServiceError};
use serde_json::{Value, json};
use server::start;
use settings::settings;
use sidecheck::mcp::Validated;
use sidecheck::{Client, ClientOptions, Coercion, OnUnavailable, Options};
use tokio::net::TcpListener;

/// Returns the text of a result, and whether it is an error.
async fn call(
    session: &Session,
    tool: &'static str,
    arguments: Value,
) -> Result<(String, bool), ErrorData> {
    let arguments = arguments.as_object().unwrap().clone();
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    match session.call_tool(params).await {
        Ok(result) => {
            let text = result.content[0].as_text().unwrap().text.clone();
            Ok((text, result.is_error == Some(true)))
        }
        Err(ServiceError::McpError(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

async fn expect(session: &Session, arguments: Value, text: &str, is_error: bool) {
    let result = call(session, "repeat", arguments).await.unwrap();
    assert!(
        result.0.contains(text) && result.1 == is_error,
        "{result:?}"
    );
}

/// A client of the shared server; none if the test is to be skipped.
fn shared_server() -> Option<Client> {
    let settings = settings()?;
    let address = settings["servers"]["real"].as_str().unwrap();
    Some(patient_client(address, OnUnavailable::Error))
}

fn patient_client(address: &str, on_unavailable: OnUnavailable) -> Client {
    let options = ClientOptions {
        timeout: Duration::from_secs(120),
        on_unavailable,
        ..ClientOptions::default()
    };
    Client::new(address, options).unwrap()
}

/// Each test has a name in the shared registry, so that none sees the tools of another.
fn wrap(client: Client, name: &str, tools: impl IntoIterator<Item = Tool>) -> Validated<Echo> {
    Validated::new(Echo::new(tools), client, format!("rust {name}"))
}

#[tokio::test]
async fn calls_and_results_are_validated() {
    let Some(client) = shared_server() else {
        return;
    };
    let session = connect(wrap(client, "calls", [repeat()])).await;
    expect(&session, json!({"count": 1}), r#"{"count":1}"#, false).await;
    expect(
        &session,
        json!({"count": "1"}),
        "count: expected an integer",
        true,
    )
    .await;
    expect(
        &session,
        json!({"count": 10}),
        "Output validation error",
        true,
    )
    .await;
    let error = call(&session, "none", json!({})).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
}

#[tokio::test]
async fn tools_that_changed_are_registered_again() {
    let Some(client) = shared_server() else {
        return;
    };
    let echo = Echo::new([repeat()]);
    let tools = Arc::clone(&echo.tools);
    let session = connect(Validated::new(echo, client, "rust changes")).await;
    expect(&session, json!({"count": 1}), r#"{"count":1}"#, false).await;
    let schema = json!({"type": "object", "required": ["other"]});
    tools.lock().unwrap()[0].input_schema = Arc::new(schema.as_object().unwrap().clone());
    session.list_all_tools().await.unwrap();
    expect(
        &session,
        json!({"count": 1}),
        r#""other" is required"#,
        true,
    )
    .await;
}

#[tokio::test]
async fn a_restarted_server_gets_the_tools_again() {
    let Some(settings) = settings() else { return };
    let (mut first, address) = start(&settings, "127.0.0.1:0", &[]).await;
    let client = patient_client(&address, OnUnavailable::Error);
    let session = connect(wrap(client, "restart", [repeat()])).await;
    expect(&session, json!({"count": "1"}), "expected an integer", true).await;
    first.kill().await.unwrap();
    let _second = start(&settings, &address, &[]).await;
    expect(&session, json!({"count": "1"}), "expected an integer", true).await;
}

#[tokio::test]
async fn the_handler_gets_repaired_arguments() {
    let Some(client) = shared_server() else {
        return;
    };
    let options = Options {
        coercion: Coercion::SafeScalars,
        ..Options::default()
    };
    let session = connect(wrap(client, "repair", [repeat()]).with_options(options)).await;
    expect(&session, json!({"count": "1"}), r#"{"count":1}"#, false).await;
}

#[tokio::test]
async fn a_rejected_tool_is_reported() {
    let Some(client) = shared_server() else {
        return;
    };
    let reasons = Arc::new(Mutex::new(Vec::new()));
    let reported = Arc::clone(&reasons);
    let server = wrap(client, "rejection", [repeat(), broken()])
        .on_error(move |error| reported.lock().unwrap().push(error.reason().to_owned()));
    let session = connect(server).await;
    // Concurrent first calls share one registration.
    let calls = (0..8).map(|_| call(&session, "broken", json!({})));
    for result in futures_util::future::join_all(calls).await {
        let error = result.unwrap_err();
        assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
        assert!(
            error.message.contains(r#"definition of tool "broken": "#),
            "{error}"
        );
    }
    expect(&session, json!({"count": 1}), r#"{"count":1}"#, false).await;
    assert_eq!(*reasons.lock().unwrap(), ["TOOLS_REJECTED"]);
}

#[tokio::test]
async fn the_policy_decides_where_no_server_answers() {
    let address = format!("unix:{}/none.sock", env!("CARGO_TARGET_TMPDIR"));
    for policy in [
        OnUnavailable::Error,
        OnUnavailable::Allow,
        OnUnavailable::Deny,
    ] {
        let events = Arc::new(Mutex::new(Vec::new()));
        let (errors, reports) = (Arc::clone(&events), Arc::clone(&events));
        let server = wrap(patient_client(&address, policy), "policy", [repeat()])
            .on_error(move |error| errors.lock().unwrap().push(error.reason().to_owned()))
            .on_report(move |_, verdict| {
                reports
                    .lock()
                    .unwrap()
                    .push(verdict.violations[0].code.clone());
            });
        let session = connect(server).await;
        assert_eq!(session.list_all_tools().await.unwrap().len(), 1);
        let result = call(&session, "repeat", json!({"count": "1"})).await;
        let stand_in = ["UNAVAILABLE", "SIDECHECK_UNAVAILABLE"];
        match policy {
            OnUnavailable::Error => {
                let error = result.unwrap_err();
                assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
                assert_eq!(error.message, "Sidecheck is unavailable: UNAVAILABLE");
                assert_eq!(*events.lock().unwrap(), ["UNAVAILABLE"]);
            }
            OnUnavailable::Allow => {
                assert_eq!(result.unwrap(), (r#"{"count":"1"}"#.to_owned(), false));
                assert_eq!(*events.lock().unwrap(), stand_in);
            }
            OnUnavailable::Deny => {
                let (text, is_error) = result.unwrap();
                assert!(is_error && text.contains("Try again later"), "{text}");
                assert_eq!(*events.lock().unwrap(), stand_in);
            }
        }
    }
}

#[tokio::test]
async fn verdicts_that_are_not_enforced_are_reported() {
    let Some(settings) = settings() else { return };
    let environment = [("SIDECHECK_REPORT_ONLY", r#"["rust reports"]"#)];
    let (_running, address) = start(&settings, "127.0.0.1:0", &environment).await;
    let client = patient_client(&address, OnUnavailable::Error);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let reported = Arc::clone(&reports);
    let server = wrap(client, "reports", [repeat()]).on_report(move |tool, verdict| {
        reported
            .lock()
            .unwrap()
            .push((tool.to_owned(), verdict.valid));
    });
    let session = connect(server).await;
    expect(&session, json!({"count": "1"}), r#"{"count":"1"}"#, false).await;
    expect(&session, json!({"count": 10}), r#"{"count":10}"#, false).await;
    assert_eq!(
        *reports.lock().unwrap(),
        vec![("repeat".to_owned(), false); 2]
    );
}

#[tokio::test]
async fn a_cancelled_call_ends() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let echo = Echo::new([repeat()]);
    let tools = Arc::downgrade(&echo.tools);
    let client = patient_client(&address, OnUnavailable::Error);
    let errors = Arc::new(Mutex::new(Vec::new()));
    let reported = Arc::clone(&errors);
    let server = Validated::new(echo, client, "weather")
        .on_error(move |error| reported.lock().unwrap().push(error.clone()));
    let session = connect(server).await;
    let request = CallToolRequest::new(CallToolRequestParams::new("repeat"));
    let options = PeerRequestOptions::no_options();
    let request = session.send_cancellable_request(request.into(), options);
    let request = request.await.unwrap();
    let _connection = silent.accept().await.unwrap();
    request.cancel(None).await.unwrap();
    session.cancel().await.unwrap();
    // The handler lives as long as the session and its calls.
    while tools.strong_count() > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(*errors.lock().unwrap(), [], "it waited for its deadline");
}

/// Before 2026-07-28 the SDK lists no output schema of an array, and sends no such content.
#[tokio::test]
async fn the_version_of_the_session_applies() {
    let Some(client) = shared_server() else {
        return;
    };
    let list = tool(json!({
        "name": "repeat",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "array", "maxItems": 1},
    }));
    let server = wrap(client, "versions", [list]);
    let later = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    for (lifecycle, stopped) in [(ClientLifecycleMode::Initialize, false), (later, true)] {
        let session = connect_with(server.clone(), lifecycle).await;
        expect(&session, json!({"content": [1]}), "[1]", false).await;
        let (text, is_error) = call(&session, "repeat", json!({"content": [1, 2]}))
            .await
            .unwrap();
        assert_eq!(is_error, stopped, "{text}");
    }
}
