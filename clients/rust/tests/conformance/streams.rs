//! Streams and sessions.

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use sidecheck::{Client, SessionOptions, StreamOptions};

use crate::protocol::{check_options, context};
use crate::requests::{elements, options, string, target, text, word};
use crate::results::{self, Failure};
use crate::validation;

pub async fn call(client: &Client, procedure: &str, case: &Value) -> Result<Value, Failure> {
    let mut responses = Vec::new();
    let end = match procedure {
        "ValidateStream" => validate(client, &case["request"], &mut responses).await,
        "CheckSession" => check_session(client, &case["request"], &mut responses).await,
        other => panic!("unknown call {other}"),
    };
    let mut result = json!({"responses": responses});
    match end {
        Ok(Value::Null) => {}
        Ok(summary) => result["summary"] = summary,
        Err(failure) => result["error"] = failure.render(),
    }
    Ok(result)
}

async fn validate(
    client: &Client,
    request: &Value,
    responses: &mut Vec<Value>,
) -> Result<Value, Failure> {
    let defaults = &request["defaults"];
    let (target, options) = (target(&defaults["target"]), options(&defaults["options"])?);
    let item = |item: &Value| -> Result<_, Failure> {
        let id = string(&item["id"]).to_owned();
        Ok((id, validation::item(&item["item"])?))
    };
    let items = elements(&request["items"]).map(item);
    let items = items.collect::<Result<Vec<_>, _>>()?;
    let stream_options = StreamOptions::default();
    let mut outcomes = client
        .validate_stream(
            stream::iter(items),
            target.as_ref(),
            &options,
            &stream_options,
        )
        .await?;
    while let Some(outcome) = outcomes.next().await.transpose()? {
        let rendered = results::outcome(&outcome.outcome, "verdict");
        responses.push(json!({"id": outcome.id, "outcome": rendered}));
    }
    Ok(Value::Null)
}

async fn check_session(
    client: &Client,
    request: &Value,
    responses: &mut Vec<Value>,
) -> Result<Value, Failure> {
    let defaults = &request["defaults"];
    let session = SessionOptions {
        continued: defaults["from_beginning"] == false,
        ..SessionOptions::default()
    };
    let protocol = client.protocol();
    let session = protocol
        .session(&context(defaults), &check_options(defaults)?, &session)
        .await?;
    for item in elements(&request["items"]) {
        let message = &item["message"];
        let status = item["http_status"].as_u64();
        let status = status.map(|status| status.try_into().unwrap());
        let sender = word(&message["sender"])?;
        let outcome = session.check(text(&message["json"]), sender, status).await;
        let rendered = results::outcome(&outcome, "result");
        responses.push(json!({"id": item["id"], "outcome": rendered}));
    }
    Ok(json!(session.finish().await?))
}
