//! What payloads are validated against.

use crate::json::Json;
use crate::registry::Document;
use crate::stubs::sidecheck::v1 as pb;

/// What to validate against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Tool of the registry, by server and name.
    RegisteredTool(RegisteredTool),
    /// Tool definition of the registry, by its digest: `sha256:` and 64 hexadecimal digits.
    DefinitionDigest(String),
    /// Schema of a registered tool, by its digest.
    SchemaDigest(String),
    /// Tool definition sent with the request.
    ToolDefinition(ToolDefinition),
    /// Schema sent with the request.
    Schema(Schema),
}

/// A tool of the registry, by server and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisteredTool {
    /// Namespace of the server that offers the tool.
    pub server: String,
    /// Name of the tool, exactly as registered; empty with call params, which contain it.
    pub name: String,
    /// If not empty, the digest that the registered definition must have; any other fails with
    /// `DEFINITION_MISMATCH`.
    pub definition_digest: String,
}

impl RegisteredTool {
    /// The tool called `name` of `server`.
    pub fn new(server: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            name: name.into(),
            definition_digest: String::new(),
        }
    }

    /// The tool of `server` that the call params name.
    pub fn of_server(server: impl Into<String>) -> Self {
        Self::new(server, "")
    }
}

/// A tool definition, as an entry of a `tools/list` result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDefinition {
    /// The definition.
    pub json: Json,
    /// Documents that the schemas of the tool refer to.
    pub documents: Vec<Document>,
}

impl ToolDefinition {
    /// A definition without documents.
    pub fn new(json: impl Into<Json>) -> Self {
        Self {
            json: json.into(),
            documents: Vec::new(),
        }
    }
}

/// A JSON Schema sent with the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// The schema.
    pub json: Json,
    /// Documents that it refers to; one may be the meta-schema of its `$schema`.
    pub documents: Vec<Document>,
    /// URI of the dialect of a schema without `$schema`; empty is JSON Schema 2020-12.
    pub default_dialect: String,
}

impl Schema {
    /// A schema without documents.
    pub fn new(json: impl Into<Json>) -> Self {
        Self {
            json: json.into(),
            ..Self::default()
        }
    }
}

/// Tools to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// Registered tools.
    Registered {
        /// Namespace of the server. One without tools is an error.
        server: String,
        /// Names of the tools; none means all.
        names: Vec<String>,
    },
    /// Tools sent with the request, of which there may be none.
    Definitions(Vec<ToolDefinition>),
}

impl ToolSet {
    /// All registered tools of `server`.
    pub fn of_server(server: impl Into<String>) -> Self {
        Self::Registered {
            server: server.into(),
            names: Vec::new(),
        }
    }
}

impl FromIterator<ToolDefinition> for ToolSet {
    fn from_iter<I: IntoIterator<Item = ToolDefinition>>(tools: I) -> Self {
        Self::Definitions(tools.into_iter().collect())
    }
}

impl From<ToolSet> for pb::ToolSet {
    fn from(set: ToolSet) -> Self {
        match set {
            ToolSet::Registered { server, names } => Self {
                server,
                names,
                ..Self::default()
            },
            ToolSet::Definitions(tools) => Self {
                tools: tools.into_iter().map(Into::into).collect(),
                ..Self::default()
            },
        }
    }
}

impl From<RegisteredTool> for Target {
    fn from(tool: RegisteredTool) -> Self {
        Self::RegisteredTool(tool)
    }
}

impl From<ToolDefinition> for Target {
    fn from(tool: ToolDefinition) -> Self {
        Self::ToolDefinition(tool)
    }
}

impl From<Schema> for Target {
    fn from(schema: Schema) -> Self {
        Self::Schema(schema)
    }
}

impl From<&Target> for Target {
    fn from(target: &Target) -> Self {
        target.clone()
    }
}

impl From<Target> for pb::Target {
    fn from(target: Target) -> Self {
        use pb::target::Target as Kind;
        let kind = match target {
            Target::RegisteredTool(tool) => Kind::RegisteredTool(pb::RegisteredTool {
                server: tool.server,
                name: tool.name,
                definition_digest: tool.definition_digest,
            }),
            Target::DefinitionDigest(digest) => Kind::DefinitionDigest(digest),
            Target::SchemaDigest(digest) => Kind::SchemaDigest(digest),
            Target::ToolDefinition(tool) => Kind::InlineTool(tool.into()),
            Target::Schema(schema) => Kind::InlineSchema(pb::InlineSchema {
                json: schema.json.into_bytes(),
                documents: encode_documents(schema.documents),
                default_dialect: schema.default_dialect,
            }),
        };
        Self { target: Some(kind) }
    }
}

impl From<ToolDefinition> for pb::InlineTool {
    fn from(tool: ToolDefinition) -> Self {
        Self {
            json: tool.json.into_bytes(),
            documents: encode_documents(tool.documents),
        }
    }
}

pub(crate) fn encode_documents(documents: Vec<Document>) -> Vec<pb::Document> {
    let encode = |document: Document| pb::Document {
        uri: document.uri,
        json: document.json.into_bytes(),
    };
    documents.into_iter().map(encode).collect()
}
