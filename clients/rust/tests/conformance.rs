//! The cases that all clients share, against the servers that `tests/conformance` starts.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use futures_util::{TryStreamExt, future};
use serde_json::{Map, Value, json};
use sidecheck::{
    CheckItem, CheckOptions, Client, ClientOptions, Document, Error, ErrorKind, Item, Json,
    OnUnavailable, Options, ProtocolContext, ProtocolMessage, RegisterOptions, RegisteredTool,
    Schema, Subject, Target, ToolDefinition, ToolResult, Verdict,
};

/// Failures that the test describes.
const SHOWN: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_cases() {
    let Some(path) = std::env::var_os("SIDECHECK_CONFORMANCE") else {
        let required = std::env::var("SIDECHECK_REQUIRE_ALL").is_ok_and(|value| value == "1");
        let reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance";
        assert!(!required, "{reason}");
        eprintln!("skipped: {reason}");
        return;
    };
    let settings = parse(&fs::read_to_string(path).unwrap());
    let text = fs::read_to_string(settings["cases"].as_str().unwrap()).unwrap();
    let cases: Vec<Value> = text.lines().map(parse).collect();
    let mut results = Vec::new();
    let is_alike = |a: &Value, b: &Value| a["server"] == b["server"] && a["client"] == b["client"];
    for alike in cases.chunk_by(is_alike) {
        let client = match client(&settings, &alike[0]) {
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

fn client(settings: &Value, case: &Value) -> Result<Client, &'static str> {
    let options = &case["client"];
    #[cfg(not(feature = "tls"))]
    if options["tls"] == true {
        return Err("the feature tls is off");
    }
    if options["coalesce"] == true {
        return Err("the Rust client has no coalescing");
    }
    #[cfg(feature = "tls")]
    let tls = (options["tls"] == true).then(|| {
        let read = |name: &str| fs::read(settings["tls"][name].as_str().unwrap()).unwrap();
        sidecheck::Tls {
            ca_certificates: Some(read("ca")),
            certificate: Some(read("certificate")),
            private_key: Some(read("key")),
            server_name: None,
        }
    });
    let address = settings["servers"][string(&case["server"])]
        .as_str()
        .unwrap();
    let options = ClientOptions {
        timeout: Duration::from_secs_f64(options["timeout"].as_f64().unwrap()),
        on_unavailable: match options["on_unavailable"].as_str().unwrap() {
            "allow" => OnUnavailable::Allow,
            "deny" => OnUnavailable::Deny,
            _ => OnUnavailable::Error,
        },
        protocol_version: string(&options["protocol_version"]).to_owned(),
        #[cfg(feature = "tls")]
        tls,
    };
    Ok(Client::new(address, options).unwrap())
}

async fn run(client: &Client, case: &Value) -> Value {
    let actual = match call(client, case).await {
        None => {
            return json!({"id": case["id"], "skipped": "the Rust client has no method for it"});
        }
        Some(Ok(actual)) => actual,
        Some(Err(error)) => json!({"error": render_error(&error)}),
    };
    let actual = without_revisions(actual);
    if is_expected(&case["want"], &actual) {
        json!({"id": case["id"], "passed": true})
    } else {
        json!({"id": case["id"], "passed": false, "actual": actual})
    }
}

async fn call(client: &Client, case: &Value) -> Option<Result<Value, Error>> {
    let request = &case["request"];
    let adapt_to_version = string(&request["adapt_to_version"]);
    let (server, name) = (string(&request["server"]), string(&request["name"]));
    Some(match case["call"].as_str()? {
        "Validate" => validate(client, request)
            .await
            .map(|verdict| json!({"verdict": verdict})),
        "ValidateBatch" => {
            let items: Vec<_> = elements(&request["items"]).map(item).collect();
            let target = target(&request["target"]);
            let options = options(&request["options"]);
            let outcomes = client
                .validate_batch(items, target.as_ref(), &options)
                .await;
            outcomes.map(|outcomes| json!({"outcomes": outcomes.iter().map(render_outcome).collect::<Vec<_>>()}))
        }
        "RegisterTools" => register(client, case).await,
        "GetTool" => client
            .get(server, name, adapt_to_version)
            .await
            .map(|tool| json!({"tool": tool})),
        "ListTools" => {
            let tools: Result<Vec<_>, _> =
                client.list(server, adapt_to_version).try_collect().await;
            tools.map(|tools| json!({"tools": tools}))
        }
        "DeleteTools" if request["all"] == true => client
            .delete_all(server)
            .await
            .map(|deletion| json!(deletion)),
        "DeleteTools" => {
            let names = elements(&request["names"]).map(string);
            client
                .delete(server, names)
                .await
                .map(|deletion| json!(deletion))
        }
        "GetServerInfo" => client.info().await.map(|info| json!(info)),
        "CheckBatch" => {
            let items = elements(&request["items"]).map(|item| {
                let (kind, fields) = only_field(item);
                check_item(kind, fields)
            });
            let (context, options) = (context(request), check_options(request));
            let outcomes = client
                .protocol()
                .check_batch(items, &context, &options)
                .await;
            outcomes.map(|outcomes| {
                let render = |outcome| match outcome {
                    Ok(result) => json!({"result": result}),
                    Err(error) => json!({"error": render_error(&error)}),
                };
                json!({"outcomes": outcomes.into_iter().map(render).collect::<Vec<_>>()})
            })
        }
        call => {
            let kind = match call {
                "CheckElicitation" => "elicitation",
                "CheckElicitationResult" => "elicitation_result",
                "CheckSampling" => "sampling",
                "CheckToolResult" => "tool_result",
                "CheckMessage" => "message",
                _ => return None,
            };
            let item = check_item(kind, &request[kind]);
            let (context, options) = (context(request), check_options(request));
            let result = client.protocol().check(item, &context, &options).await;
            result.map(|result| json!({"result": result}))
        }
    })
}

fn check_item(kind: &str, fields: &Value) -> CheckItem {
    match kind {
        "elicitation" => CheckItem::Elicitation(text(&fields["params"])),
        "elicitation_result" => CheckItem::ElicitationResult {
            result: text(&fields["result"]),
            params: optional_text(&fields["params"]),
        },
        "sampling" => CheckItem::Sampling(text(&fields["params"])),
        "tool_result" => CheckItem::ToolResult(ToolResult {
            json: text(&fields["json"]),
            profile: word(&fields["profile"]),
            tool: target(&fields["tool"]),
        }),
        "message" => CheckItem::Message(ProtocolMessage {
            json: text(&fields["json"]),
            sender: word(&fields["sender"]),
            request_method: string(&fields["request_method"]).to_owned(),
            request: optional_text(&fields["request"]),
        }),
        other => panic!("unknown item {other}"),
    }
}

fn context(request: &Value) -> ProtocolContext {
    let fields = &request["context"];
    ProtocolContext {
        protocol_version: string(&fields["protocol_version"]).to_owned(),
        client_capabilities: optional_text(&fields["client_capabilities"]),
        server_capabilities: optional_text(&fields["server_capabilities"]),
    }
}

fn check_options(request: &Value) -> CheckOptions {
    match &request["options"] {
        Value::Null => CheckOptions::default(),
        fields => serde_json::from_value(fields.clone()).unwrap(),
    }
}

fn optional_text(value: &Value) -> Option<Json> {
    (!value.is_null()).then(|| text(value))
}

fn word<T: Default + serde::de::DeserializeOwned>(value: &Value) -> T {
    match value {
        Value::Null => T::default(),
        value => serde_json::from_value(value.clone()).unwrap(),
    }
}

async fn validate(client: &Client, request: &Value) -> Result<Verdict, Error> {
    let options = options(&request["options"]);
    let target = target(&request["target"]).expect("each case of Validate has a target");
    match item(request).subject {
        Subject::Arguments(json) => client.validate(target, json, &options).await,
        Subject::StructuredContent(json) => {
            client
                .validate_structured_content(target, json, &options)
                .await
        }
        Subject::CallParams(json) => client.validate_call(target, json, &options).await,
        Subject::CallResult(json) => client.validate_call_result(target, json, &options).await,
    }
}

async fn register(client: &Client, case: &Value) -> Result<Value, Error> {
    let request = &case["request"];
    let policy = request.get("change_policy").cloned();
    let options = RegisterOptions {
        replace: request["mode"] == "replace",
        change_policy: policy
            .map(|word| serde_json::from_value(word).unwrap())
            .unwrap_or_default(),
        validate_only: request["validate_only"] == true,
        protocol_version: string(&request["protocol_version"]).to_owned(),
        return_rejected: case["on_rejected"] != "error",
    };
    let tools = elements(&request["tools"]).map(definition);
    let registration = client
        .register(string(&request["server"]), tools, &options)
        .await?;
    Ok(json!(registration))
}

fn item(value: &Value) -> Item {
    let (kind, payload) = only_field(&value["subject"]);
    let subject = match kind {
        "arguments" => Subject::Arguments(text(payload)),
        "structured_content" => Subject::StructuredContent(Some(text(payload))),
        "absent_structured_content" => Subject::StructuredContent(None),
        "call_params" => Subject::CallParams(text(payload)),
        "call_result" => Subject::CallResult(text(payload)),
        other => panic!("unknown subject {other}"),
    };
    let has_options = !value["options"].is_null();
    Item {
        subject,
        target: target(&value["target"]),
        options: has_options.then(|| options(&value["options"])),
    }
}

fn target(value: &Value) -> Option<Target> {
    if value.is_null() {
        return None;
    }
    let (kind, fields) = only_field(value);
    Some(match kind {
        "registered_tool" => Target::RegisteredTool(RegisteredTool {
            server: string(&fields["server"]).to_owned(),
            name: string(&fields["name"]).to_owned(),
            definition_digest: string(&fields["definition_digest"]).to_owned(),
        }),
        "definition_digest" => Target::DefinitionDigest(string(fields).to_owned()),
        "schema_digest" => Target::SchemaDigest(string(fields).to_owned()),
        "inline_tool" => Target::ToolDefinition(definition(fields)),
        "inline_schema" => Target::Schema(Schema {
            json: text(&fields["json"]),
            documents: documents(fields),
            default_dialect: string(&fields["default_dialect"]).to_owned(),
        }),
        other => panic!("unknown target {other}"),
    })
}

fn definition(fields: &Value) -> ToolDefinition {
    ToolDefinition {
        json: text(&fields["json"]),
        documents: documents(fields),
    }
}

fn documents(holder: &Value) -> Vec<Document> {
    let document = |fields: &Value| Document {
        uri: string(&fields["uri"]).to_owned(),
        json: text(&fields["json"]),
    };
    elements(&holder["documents"]).map(document).collect()
}

fn options(fields: &Value) -> Options {
    match fields {
        Value::Null => Options::default(),
        fields => serde_json::from_value(fields.clone()).unwrap(),
    }
}

fn only_field(value: &Value) -> (&str, &Value) {
    let (name, field) = value.as_object().unwrap().iter().next().unwrap();
    (name, field)
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn text(value: &Value) -> Json {
    string(value).as_bytes().into()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn render_outcome(outcome: &Result<Verdict, Error>) -> Value {
    match outcome {
        Ok(verdict) => json!({"verdict": verdict}),
        Err(error) => json!({"error": render_error(error)}),
    }
}

fn render_error(error: &Error) -> Value {
    let kind = match error.kind() {
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::InvalidResponse => "invalid_response",
        ErrorKind::ToolsRejected(_) => "tools_rejected",
        _ => "error",
    };
    json!({
        "kind": kind,
        "reason": error.reason(),
        "status": error.status(),
        "message": error.message(),
        "metadata": error.metadata(),
        "retry_after": error.retry_after().map(|delay| delay.as_secs_f64()),
    })
}

/// Leaves out what depends on what else the server has done.
fn without_revisions(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_constant = |name: &String| name != "registry_revision" && name != "revision";
            let fields = fields.into_iter().filter(|(name, _)| is_constant(name));
            Value::Object(
                fields
                    .map(|(name, value)| (name, without_revisions(value)))
                    .collect(),
            )
        }
        Value::Array(elements) => elements.into_iter().map(without_revisions).collect(),
        value => value,
    }
}

/// Whether the result is the wanted one; of an error only the wanted keys count.
fn is_expected(want: &Value, actual: &Value) -> bool {
    match (want, actual) {
        (Value::Object(want), Value::Object(actual)) => {
            let is_expected_field = |(name, want): (&String, &Value)| match (want, actual.get(name))
            {
                (_, None) => false,
                (Value::Object(want), Some(actual)) if name == "error" => has_all(want, actual),
                (want, Some(actual)) => is_expected(want, actual),
            };
            want.len() == actual.len() && want.iter().all(is_expected_field)
        }
        (Value::Array(want), Value::Array(actual)) => {
            want.len() == actual.len() && want.iter().zip(actual).all(|(a, b)| is_expected(a, b))
        }
        _ => want == actual,
    }
}

fn has_all(want: &Map<String, Value>, actual: &Value) -> bool {
    want.iter()
        .all(|(name, value)| actual.get(name) == Some(value))
}
