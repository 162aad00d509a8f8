//! Arguments of calls, from the requests of the cases.

use serde::de::DeserializeOwned;
use serde_json::Value;
use sidecheck::{Document, Json, Options, RegisteredTool, Schema, Target, ToolDefinition, ToolSet};

use crate::results::Failure;

pub fn target(value: &Value) -> Option<Target> {
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

pub fn definition(fields: &Value) -> ToolDefinition {
    ToolDefinition {
        json: text(&fields["json"]),
        documents: documents(fields),
    }
}

pub fn tool_set(fields: &Value) -> ToolSet {
    match fields["server"].as_str() {
        Some(server) => ToolSet::Registered {
            server: server.to_owned(),
            names: elements(&fields["names"])
                .map(|name| string(name).to_owned())
                .collect(),
        },
        None => elements(&fields["tools"]).map(definition).collect(),
    }
}

pub fn documents(holder: &Value) -> Vec<Document> {
    let document = |fields: &Value| Document {
        uri: string(&fields["uri"]).to_owned(),
        json: text(&fields["json"]),
    };
    elements(&holder["documents"]).map(document).collect()
}

/// Options or a word of an enumeration; null is the default.
pub fn word<T: Default + DeserializeOwned>(value: &Value) -> Result<T, Failure> {
    match value {
        Value::Null => Ok(T::default()),
        value => Ok(serde_json::from_value(value.clone())?),
    }
}

pub fn options(fields: &Value) -> Result<Options, Failure> {
    word(fields)
}

pub fn only_field(value: &Value) -> (&str, &Value) {
    let (name, field) = value.as_object().unwrap().iter().next().unwrap();
    (name, field)
}

pub fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub fn text(value: &Value) -> Json {
    string(value).as_bytes().into()
}

pub fn optional_text(value: &Value) -> Option<Json> {
    (!value.is_null()).then(|| text(value))
}

pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
