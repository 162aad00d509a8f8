//! What to convert.

use crate::protocol::ToolResult;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;

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
