//! Comparisons of tools by a real server, and registrations that depend on them.

use serde_json::{Value, json};
use sidecheck::{
    Action, ChangeLevel, CompatibilityPolicy, DefinitionPart, RegisterOptions, SchemaReading,
    SchemaRelation, ToolDefinition, ToolSet, ToolStatus,
};

use crate::client;
use crate::server::start;
use crate::settings::settings;

fn tool(maximum: u32) -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {"n": {"maximum": maximum}}});
    ToolDefinition::new(json!({"name": "f", "inputSchema": schema}))
}

#[tokio::test]
async fn what_breaks_callers_is_shown_and_kept_out() {
    let Some(settings) = settings() else {
        return;
    };
    let (_server, address) = start(&settings, "127.0.0.1:0", &[]).await;
    let client = client(&address);
    let register = async |tools: Vec<ToolDefinition>, options| {
        client.register("compared", tools, &options).await.unwrap()
    };
    let registered = register(vec![tool(9)], RegisterOptions::default()).await;

    client.set_min_revision(registered.registry_revision);
    let (old, new) = (
        ToolSet::of_server("compared"),
        [tool(5)].into_iter().collect(),
    );
    let comparison = client
        .compare(old, new, SchemaReading::AsWritten)
        .await
        .unwrap();
    assert_eq!(comparison.level, ChangeLevel::Breaking);
    let tool_comparison = &comparison.tools[0];
    assert_eq!(tool_comparison.status, ToolStatus::Changed);
    assert_ne!(
        tool_comparison.old_definition_digest,
        tool_comparison.new_definition_digest
    );
    let schema = &tool_comparison.schemas[0];
    assert_eq!(schema.part, DefinitionPart::InputSchema);
    assert_eq!(schema.as_written.relation, SchemaRelation::Narrowed);
    let witness = schema.as_written.witness.as_ref().unwrap();
    assert!(
        witness.payload.decode::<Value>().unwrap()["n"]
            .as_f64()
            .unwrap()
            > 5.0
    );
    let change = &tool_comparison.changes[0];
    let location = Some("/inputSchema/properties/n/maximum".to_owned());
    assert_eq!(
        (&change.code[..], &change.keyword[..]),
        ("MAXIMUM_LOWERED", "maximum")
    );
    assert_eq!(
        (&change.old_location, &change.new_location),
        (&location, &location)
    );
    assert_eq!((&change.old_value[..], &change.new_value[..]), ("9", "5"));
    assert_eq!(change.as_written.level, ChangeLevel::Breaking);

    let options = RegisterOptions {
        compatibility: CompatibilityPolicy::RejectBreaking,
        return_rejected: true,
        ..RegisterOptions::default()
    };
    let outcome = register(vec![tool(5)], options.clone())
        .await
        .outcomes
        .remove(0);
    assert_eq!(outcome.action, Action::Rejected);
    assert_eq!(
        outcome.comparison.unwrap().as_written,
        ChangeLevel::Breaking
    );
    let options = RegisterOptions {
        replace: true,
        ..options
    };
    assert_eq!(register(Vec::new(), options).await.kept, ["f"]);
}

#[tokio::test]
async fn a_revision_that_the_server_does_not_have_is_not_read() {
    let Some(settings) = settings() else {
        return;
    };
    let (_server, address) = start(&settings, "127.0.0.1:0", &[]).await;
    let client = client(&address);
    client
        .register("compared", [tool(9)], &RegisterOptions::default())
        .await
        .unwrap();
    client.clone().set_min_revision(u64::MAX >> 1);
    let error = client.get("compared", "f", "").await.unwrap_err();
    assert_eq!(error.reason(), "REVISION_NOT_REACHED");
    client.set_min_revision(0);
    assert_eq!(client.get("compared", "f", "").await.unwrap().name, "f");
}
