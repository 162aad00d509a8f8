//! Checks of messages and definitions.

use futures_util::TryStreamExt;
use serde_json::{Value, json};
use sidecheck::{
    CheckItem, CheckOptions, Client, ProtocolContext, ProtocolMessage, Returned, Rule, ToolResult,
};

use crate::requests::{
    definition, documents, elements, only_field, optional_text, string, target, text, word,
};
use crate::results::{self, Failure};

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Failure> {
    let request = &case["request"];
    let (context, options) = (&context(request), &check_options(request)?);
    let protocol = client.protocol();
    Ok(match procedure {
        "ListRules" => {
            let version = string(&request["protocol_version"]);
            let rules: Vec<Rule> = protocol.list_rules(version).try_collect().await?;
            json!({"rules": rules})
        }
        "CheckToolNames" => {
            let names = elements(&request["names"]).map(string);
            json!(protocol.check_names(names, context, options).await?)
        }
        "CheckTools" if !request["tools_list"].is_null() => {
            let list = text(&request["tools_list"]);
            let documents = documents(request);
            let checked = protocol.check_tools(list, documents, context, options);
            json!(checked.await?)
        }
        "CheckTools" => {
            let tools = elements(&request["tools"]).map(definition);
            json!(protocol.check_definitions(tools, context, options).await?)
        }
        "NormalizeToolResult" => {
            let tool = target(&request["tool"]);
            let (tool, profile) = (tool.as_ref(), word(&request["profile"])?);
            let returned = returned(request);
            let normalized =
                protocol.normalize_tool_result(returned, tool, profile, context, options);
            json!(normalized.await?)
        }
        "CheckBatch" => {
            let items = elements(&request["items"]).map(|item| {
                let (kind, fields) = only_field(item);
                check_item(kind, fields)
            });
            let items = items.collect::<Result<Vec<_>, _>>()?;
            let outcomes = protocol.check_batch(items, context, options).await?;
            results::outcomes(&outcomes, "result")
        }
        "CheckElicitation" => {
            let params = text(&request["elicitation"]["params"]);
            json!({"result": protocol.check_elicitation(params, context, options).await?})
        }
        "CheckElicitationResult" => {
            let item = &request["elicitation_result"];
            let (result, params) = (text(&item["result"]), optional_text(&item["params"]));
            let check = protocol.check_elicitation_result(result, params, context, options);
            json!({"result": check.await?})
        }
        "CheckSampling" => {
            let params = text(&request["sampling"]["params"]);
            json!({"result": protocol.check_sampling(params, context, options).await?})
        }
        "CheckToolResult" => {
            let result = tool_result(&request["tool_result"])?;
            json!({"result": protocol.check_tool_result(result, context, options).await?})
        }
        "CheckMessage" => {
            let message = message(&request["message"])?;
            json!({"result": protocol.check_message(message, context, options).await?})
        }
        other => panic!("unknown call {other}"),
    })
}

fn returned(request: &Value) -> Returned {
    if let Some(error) = request["error"].as_str() {
        Returned::Error(error.to_owned())
    } else if let Some(json) = optional_text(&request["value"]) {
        Returned::Value(json)
    } else if let Some(json) = optional_text(&request["content"]) {
        Returned::Content(json)
    } else {
        Returned::Result(text(&request["result"]))
    }
}

fn check_item(kind: &str, fields: &Value) -> Result<CheckItem, Failure> {
    Ok(match kind {
        "elicitation" => CheckItem::Elicitation(text(&fields["params"])),
        "elicitation_result" => CheckItem::ElicitationResult {
            result: text(&fields["result"]),
            params: optional_text(&fields["params"]),
        },
        "sampling" => CheckItem::Sampling(text(&fields["params"])),
        "tool_result" => CheckItem::ToolResult(tool_result(fields)?),
        "message" => CheckItem::Message(message(fields)?),
        other => panic!("unknown item {other}"),
    })
}

fn tool_result(fields: &Value) -> Result<ToolResult, Failure> {
    Ok(ToolResult {
        json: text(&fields["json"]),
        profile: word(&fields["profile"])?,
        tool: target(&fields["tool"]),
    })
}

fn message(fields: &Value) -> Result<ProtocolMessage, Failure> {
    Ok(ProtocolMessage {
        json: text(&fields["json"]),
        sender: word(&fields["sender"])?,
        request_method: string(&fields["request_method"]).to_owned(),
        request: optional_text(&fields["request"]),
    })
}

pub fn context(request: &Value) -> ProtocolContext {
    let fields = &request["context"];
    ProtocolContext {
        protocol_version: string(&fields["protocol_version"]).to_owned(),
        client_capabilities: optional_text(&fields["client_capabilities"]),
        server_capabilities: optional_text(&fields["server_capabilities"]),
    }
}

pub fn check_options(request: &Value) -> Result<CheckOptions, Failure> {
    word(&request["options"])
}
