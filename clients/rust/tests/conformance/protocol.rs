//! Checks of messages.

use serde_json::{Value, json};
use sidecheck::{
    CheckItem, CheckOptions, Client, Error, ProtocolContext, ProtocolMessage, ToolResult,
};

use crate::requests::{elements, only_field, optional_text, string, target, text, word};
use crate::results;

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Error> {
    let request = &case["request"];
    let (context, options) = (context(request), check_options(request));
    let protocol = client.protocol();
    let kind = match procedure {
        "CheckBatch" => {
            let items = elements(&request["items"]).map(|item| {
                let (kind, fields) = only_field(item);
                check_item(kind, fields)
            });
            let outcomes = protocol.check_batch(items, &context, &options).await?;
            return Ok(results::outcomes(&outcomes, "result"));
        }
        "CheckElicitation" => "elicitation",
        "CheckElicitationResult" => "elicitation_result",
        "CheckSampling" => "sampling",
        "CheckToolResult" => "tool_result",
        "CheckMessage" => "message",
        other => panic!("unknown call {other}"),
    };
    let item = check_item(kind, &request[kind]);
    let result = protocol.check(item, &context, &options).await?;
    Ok(json!({"result": result}))
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
