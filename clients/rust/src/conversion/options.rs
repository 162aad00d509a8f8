//! What to convert, and how.

use serde::{Deserialize, Serialize};

use crate::enumeration::enumeration;
use crate::protocol::ToolResult;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::validation::version_or;

enumeration! {
    /// API of a model provider or of a model server. There is no default.
    ModelApi: pb::ModelApi {
        /// OpenAI Chat Completions.
        OpenaiChat,
        /// OpenAI Responses.
        OpenaiResponses,
        /// Anthropic Messages.
        Anthropic,
        /// Gemini with `parameters`, a subset of OpenAPI 3.0.
        Gemini,
        /// Gemini with `parametersJsonSchema`.
        GeminiJson,
        /// Amazon Bedrock Converse.
        Bedrock,
        /// Mistral chat completions.
        Mistral,
        /// Ollama chat.
        Ollama,
        /// No model: MCP definitions that clients and model APIs accept as they are.
        Mcp,
    }
}

enumeration! {
    /// Use of the strict mode of the API; [`ConversionMode::Compatible`] by default.
    ConversionMode: pb::ConversionMode {
        /// Never strict: the schema guides the model.
        Compatible,
        /// Strict for each tool whose strict form accepts the same arguments.
        StrictIfLossless,
        /// Always strict. A tool without a strict form has an error.
        Strict,
    }
}

enumeration! {
    /// Use of the server name and `__` as a prefix of tool names; [`ServerPrefix::Automatic`]
    /// by default.
    ServerPrefix: pb::ServerPrefix {
        /// If the request has tools of several servers.
        Automatic,
        /// For every tool that has a server.
        Always,
        /// Never.
        Never,
    }
}

/// Options of a conversion of tools; the defaults are those of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversionOptions {
    /// Use of the strict mode of the API.
    pub mode: ConversionMode,
    /// Use of the server name as a prefix.
    pub server_prefix: ServerPrefix,
    /// Whether objects that declare properties and do not mention others count as closed, so
    /// that closing them does not prevent a strict form.
    pub assume_closed: bool,
    /// Maximum length of a tool description, in characters; 0 is that of the API.
    pub description_length: u32,
    /// Whether to include the output schema, for APIs that accept one.
    pub include_output_schema: bool,
    /// Whether to drop every `default` of the input schema, at any depth.
    pub drop_defaults: bool,
    /// MCP protocol version that included output schemas are adapted to. Empty is the client's
    /// own, or the server's default.
    pub protocol_version: String,
}

impl ConversionOptions {
    pub(super) fn encode(&self, default_version: &str) -> pb::ConversionOptions {
        pb::ConversionOptions {
            mode: self.mode.into(),
            server_prefix: self.server_prefix.into(),
            assume_closed: self.assume_closed,
            description_length: self.description_length,
            include_output_schema: self.include_output_schema,
            drop_defaults: self.drop_defaults,
            protocol_version: version_or(&self.protocol_version, default_version),
        }
    }
}

/// A tool to convert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolToConvert {
    /// The tool: registered, by the digest of its definition, or a definition.
    pub tool: Target,
    /// Server that offers the tool, used in its name. Empty is the server that it is registered
    /// under, if any.
    pub server: String,
}

impl ToolToConvert {
    /// A tool without the name of another server.
    pub fn new(tool: impl Into<Target>) -> Self {
        Self {
            tool: tool.into(),
            server: String::new(),
        }
    }
}

impl From<ToolToConvert> for pb::ToolToConvert {
    fn from(tool: ToolToConvert) -> Self {
        Self {
            tool: Some(tool.tool.into()),
            server: tool.server,
        }
    }
}

/// A tool result to convert to a message for the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolResultToConvert {
    /// The `CallToolResult`, and the tool that returned it.
    pub result: ToolResult,
    /// ID of the call; required except for Gemini and Ollama.
    pub call_id: String,
    /// Name of the tool in the request; required for Gemini and Ollama.
    pub name: String,
}
