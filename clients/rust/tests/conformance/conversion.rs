//! Conversions.

use serde_json::{Value, json};
use sidecheck::{Client, ToolConversion, ToolResult, ToolResultToConvert, ToolToConvert};

use crate::protocol::{check_options, context};
use crate::requests::{elements, options, string, target, text, word};
use crate::results::{self, Failure};

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Failure> {
    let request = &case["request"];
    let conversion = client.conversion();
    Ok(match procedure {
        "ConvertTools" => {
            let tools = elements(&request["tools"]).map(|fields| ToolToConvert {
                tool: target(&fields["tool"]).expect("each case has tools"),
                server: string(&fields["server"]).to_owned(),
            });
            let servers = elements(&request["servers"]).map(string);
            let options = word(&request["options"])?;
            let converted = conversion
                .convert_tools(word(&request["api"])?, tools, servers, &options)
                .await?;
            let conversions: Vec<_> = converted.conversions.iter().map(outcome).collect();
            json!({"conversions": conversions, "request": converted.request})
        }
        "ConvertToolCall" => {
            let mappings = elements(&request["mappings"]).map(text);
            let (call, tool) = (text(&request["call"]), target(&request["tool"]));
            let options = options(&request["options"])?;
            json!(
                conversion
                    .convert_tool_call(call, mappings, tool.as_ref(), &options)
                    .await?
            )
        }
        "ConvertToolResult" => {
            let fields = &request["result"];
            let result = ToolResultToConvert {
                result: ToolResult {
                    json: text(&fields["json"]),
                    profile: word(&fields["profile"])?,
                    tool: target(&fields["tool"]),
                },
                call_id: string(&request["call_id"]).to_owned(),
                name: string(&request["name"]).to_owned(),
            };
            let (context, options) = (context(request), check_options(request)?);
            json!(
                conversion
                    .convert_tool_result(word(&request["api"])?, result, &context, &options)
                    .await?
            )
        }
        other => panic!("unknown call {other}"),
    })
}

fn outcome(conversion: &ToolConversion) -> Value {
    let mut outcome = results::outcome(&conversion.outcome, "converted");
    outcome["server"] = json!(conversion.server);
    outcome["name"] = json!(conversion.name);
    outcome
}
