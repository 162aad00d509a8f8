//! Validations.

use serde_json::{Value, json};
use sidecheck::{Client, Error, Item, Subject, Verdict};

use crate::requests::{elements, only_field, options, target, text};
use crate::results;

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Error> {
    let request = &case["request"];
    match procedure {
        "Validate" => {
            let verdict = validate(client, request).await?;
            Ok(json!({"verdict": verdict}))
        }
        "ValidateBatch" => {
            let items: Vec<_> = elements(&request["items"]).map(item).collect();
            let target = target(&request["target"]);
            let options = options(&request["options"]);
            let outcomes = client
                .validate_batch(items, target.as_ref(), &options)
                .await?;
            Ok(results::outcomes(&outcomes, "verdict"))
        }
        other => panic!("unknown call {other}"),
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

pub fn item(value: &Value) -> Item {
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
