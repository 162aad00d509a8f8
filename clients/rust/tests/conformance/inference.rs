//! Inferences and adaptations.

use serde_json::{Value, json};
use sidecheck::{Client, InferOptions, Portability};

use crate::requests::{elements, string, target, word};
use crate::results::Failure;

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Failure> {
    let request = &case["request"];
    let inference = client.inference();
    Ok(match procedure {
        "InferTools" => {
            let names = |field: &str| elements(&request[field]).map(|name| string(name).to_owned());
            let options = InferOptions {
                functions: names("functions").collect(),
                on_unsupported: word(&request["on_unsupported"])?,
                injected_types: names("injected_types").collect(),
                injected_parameters: names("injected_parameters").collect(),
            };
            let source = string(&request["source"]);
            json!(inference.infer_tools(source, &options).await?)
        }
        "AdaptTool" => {
            let tool = target(&request["tool"]).expect("each case has a tool");
            let version = string(&request["protocol_version"]);
            let portable: Option<Portability> = match &request["portable"] {
                Value::Null => None,
                options => Some(serde_json::from_value(options.clone()).expect("options")),
            };
            let adapted = inference.adapt_tool(tool, version, portable.as_ref());
            json!(adapted.await?)
        }
        other => panic!("unknown call {other}"),
    })
}
