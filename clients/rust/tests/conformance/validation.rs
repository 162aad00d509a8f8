//! Validations.

use serde_json::{Value, json};
use sidecheck::{Client, Item, Subject, Verdict};

use crate::requests::{elements, only_field, options, target, text};
use crate::results::{self, Failure};

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Failure> {
    let request = &case["request"];
    match procedure {
        "Validate" => {
            let verdict = validate(client, request).await?;
            Ok(json!({"verdict": verdict}))
        }
        "RequireValid" => {
            let verdict = validate(client, request).await?.into_result()?;
            Ok(json!({"verdict": verdict}))
        }
        "ValidateBatch" => {
            let items = elements(&request["items"]).map(item);
            let items = items.collect::<Result<Vec<_>, _>>()?;
            let target = target(&request["target"]);
            let options = options(&request["options"])?;
            let outcomes = client
                .validate_batch(items, target.as_ref(), &options)
                .await?;
            Ok(results::outcomes(&outcomes, "verdict"))
        }
        other => panic!("unknown call {other}"),
    }
}

async fn validate(client: &Client, request: &Value) -> Result<Verdict, Failure> {
    let options = options(&request["options"])?;
    let target = target(&request["target"]).expect("each case of Validate has a target");
    Ok(match item(request)?.subject {
        Subject::Arguments(json) => client.validate(target, json, &options).await?,
        Subject::StructuredContent(json) => {
            client
                .validate_structured_content(target, json, &options)
                .await?
        }
        Subject::CallParams(json) => client.validate_call(target, json, &options).await?,
        Subject::CallResult(json) => client.validate_call_result(target, json, &options).await?,
    })
}

pub fn item(value: &Value) -> Result<Item, Failure> {
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
    Ok(Item {
        subject,
        target: target(&value["target"]),
        options: match has_options {
            true => Some(options(&value["options"])?),
            false => None,
        },
    })
}
