//! Registered tools.

use serde::Serialize;

use crate::error::Error;
use crate::json::Json;
use crate::stubs::sidecheck::v1 as pb;

/// JSON document that a schema refers to. Nothing is ever fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Absolute URI of the document.
    pub uri: String,
    /// The document.
    pub json: Json,
}

/// A tool of the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// Namespace of its server.
    pub server: String,
    /// Name of the tool.
    pub name: String,
    /// The definition, byte for byte as registered, unless it was adapted.
    pub json: Json,
    /// Documents registered with it.
    pub documents: Vec<Document>,
    /// Digest of the definition as registered.
    pub definition_digest: String,
    /// Digest of the input schema.
    pub input_schema_digest: String,
    /// Digest of the output schema. Empty if there is none.
    pub output_schema_digest: String,
    /// Revision of the registry at which the name was bound to the definition.
    pub revision: u64,
    /// MCP protocol version that the tool was registered under.
    pub protocol_version: String,
}

impl TryFrom<pb::Tool> for Tool {
    type Error = Error;

    fn try_from(message: pb::Tool) -> Result<Self, Error> {
        if message.json.is_empty() {
            return Err(Error::missing("Tool.json"));
        }
        let decode = |document: pb::Document| Document {
            uri: document.uri,
            json: document.json.into(),
        };
        Ok(Self {
            server: message.server,
            name: message.name,
            json: message.json.into(),
            documents: message.documents.into_iter().map(decode).collect(),
            definition_digest: message.definition_digest,
            input_schema_digest: message.input_schema_digest,
            output_schema_digest: message.output_schema_digest,
            revision: message.revision,
            protocol_version: message.protocol_version,
        })
    }
}
