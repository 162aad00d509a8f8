//! Calls of the registry, and the description of the server.

use futures_util::TryStreamExt;
use serde_json::{Value, json};
use sidecheck::{Client, RegisterOptions, Tool};

use crate::requests::{definition, elements, string, tool_set, word};
use crate::results::Failure;

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Failure> {
    let request = &case["request"];
    let adapt_to_version = string(&request["adapt_to_version"]);
    let (server, name) = (string(&request["server"]), string(&request["name"]));
    Ok(match procedure {
        "RegisterTools" => register(client, case).await?,
        "GetTool" => json!({"tool": client.get(server, name, adapt_to_version).await?}),
        "ListTools" => {
            let tools: Vec<Tool> = client.list(server, adapt_to_version).try_collect().await?;
            json!({"tools": tools})
        }
        "DeleteTools" if request["all"] == true => json!(client.delete_all(server).await?),
        "DeleteTools" => {
            let names = elements(&request["names"]).map(string);
            json!(client.delete(server, names).await?)
        }
        "CompareTools" => {
            let (old, new) = (tool_set(&request["old"]), tool_set(&request["new"]));
            json!(client.compare(old, new, word(&request["reading"])?).await?)
        }
        "GetServerInfo" => json!(client.info().await?),
        other => panic!("unknown call {other}"),
    })
}

async fn register(client: &Client, case: &Value) -> Result<Value, Failure> {
    let request = &case["request"];
    let options = RegisterOptions {
        replace: request["mode"] == "replace",
        change_policy: word(&request["change_policy"])?,
        compatibility: word(&request["compatibility"])?,
        reading: word(&request["reading"])?,
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
