//! The cases that all clients share, against the servers that `tests/conformance` starts.

mod conversion;
mod harness;
mod inference;
mod protocol;
mod registry;
mod requests;
mod results;
#[path = "../support/settings.rs"]
mod settings;
mod streams;
mod validation;

use std::collections::BTreeMap;
use std::fs;

use futures_util::future;
use serde_json::{Value, json};
use sidecheck::Client;

use requests::parse;
use results::Failure;
use settings::settings;

/// Failures that the test describes.
const SHOWN: usize = 10;

/// Puts what a user of this client does in place of the placeholders of the cases.
fn name_remedies(text: String) -> String {
    [
        ("{set TLS}", "set tls"),
        ("{leave out TLS}", "leave out tls"),
        ("{set the authorities}", "set ca_certificates of tls"),
        ("{set the name}", "set server_name of tls"),
    ]
    .into_iter()
    .fold(text, |text, (placeholder, remedy)| {
        text.replace(placeholder, remedy)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_cases() {
    let Some(settings) = settings() else {
        return;
    };
    let text = fs::read_to_string(settings["cases"].as_str().unwrap()).unwrap();
    let text = name_remedies(text);
    let cases: Vec<Value> = text.lines().map(parse).collect();
    let mut results = Vec::new();
    let is_alike = |a: &Value, b: &Value| a["server"] == b["server"] && a["client"] == b["client"];
    for alike in cases.chunk_by(is_alike) {
        let client = match harness::client(&settings, &alike[0]) {
            Ok(client) => client,
            Err(reason) => {
                results.extend(
                    alike
                        .iter()
                        .map(|case| json!({"id": case["id"], "skipped": reason})),
                );
                continue;
            }
        };
        if alike[0]["concurrent"] == true {
            results.extend(future::join_all(alike.iter().map(|case| run(&client, case))).await);
        } else {
            for case in alike {
                results.push(run(&client, case).await);
            }
        }
        client.close();
    }
    let lines: String = results.iter().map(|result| format!("{result}\n")).collect();
    fs::write(settings["results"].as_str().unwrap(), lines).unwrap();
    let wants: BTreeMap<_, _> = cases
        .iter()
        .map(|case| (case["id"].as_str(), case))
        .collect();
    let failed: Vec<_> = results
        .iter()
        .filter(|result| result["passed"] == false)
        .collect();
    for result in failed.iter().take(SHOWN) {
        let want = &wants[&result["id"].as_str()]["want"];
        eprintln!(
            "{}\n  want   {want}\n  actual {}",
            result["id"], result["actual"]
        );
    }
    assert!(!results.is_empty(), "there are no cases");
    assert!(
        failed.is_empty(),
        "{} of {} cases failed",
        failed.len(),
        results.len()
    );
}

async fn run(client: &Client, case: &Value) -> Value {
    let actual = match call(client, case).await {
        None => {
            return json!({"id": case["id"], "skipped": "the Rust client has no method for it"});
        }
        Some(Ok(actual)) => actual,
        Some(Err(failure)) => json!({"error": failure.render()}),
    };
    let actual = results::without_revisions(actual);
    if results::is_expected(&case["want"], &actual) {
        json!({"id": case["id"], "passed": true})
    } else {
        json!({"id": case["id"], "passed": false, "actual": actual})
    }
}

/// Makes the call of a case. `None` stands for a call without a method.
async fn call(client: &Client, case: &Value) -> Option<Result<Value, Failure>> {
    let procedure = case["call"].as_str().unwrap();
    let result = match procedure {
        // No procedure: "RequireValid" makes an error of the verdict.
        "Validate" | "RequireValid" | "ValidateBatch" => {
            validation::call(client, procedure, case).await
        }
        "RegisterTools" | "GetTool" | "ListTools" | "DeleteTools" | "CompareTools"
        | "GetServerInfo" => registry::call(client, procedure, case).await,
        "ValidateStream" | "CheckSession" => streams::call(client, procedure, case).await,
        "CheckToolNames"
        | "CheckTools"
        | "CheckElicitation"
        | "CheckElicitationResult"
        | "CheckSampling"
        | "CheckToolResult"
        | "NormalizeToolResult"
        | "CheckMessage"
        | "CheckBatch"
        | "ListRules" => protocol::call(client, procedure, case).await,
        "ConvertTools" | "ConvertToolCall" | "ConvertToolResult" => {
            conversion::call(client, procedure, case).await
        }
        "InferTools" | "AdaptTool" => inference::call(client, procedure, case).await,
        _ => return None,
    };
    Some(result)
}
