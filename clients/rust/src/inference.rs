//! Inference of tool definitions from source text, and their adaptation to protocol versions.

use crate::connection::Connection;
use crate::error::Error;
use crate::portability::Portability;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::values::inference::{AdaptedTool, InferredTools};
use crate::version::version_or;

pub use crate::values::inference_options::{InferOptions, OnUnsupported};

/// The inferences of a client. The policy for unavailable servers does not apply.
#[derive(Clone)]
pub struct Inference {
    connection: Connection,
}

impl Inference {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// Returns the definitions of the tools in Python source text of at most
    /// [`Limits::source_bytes`](crate::Limits::source_bytes). The text is parsed and never run.
    ///
    /// # Errors
    ///
    /// The call failed. What the text does not define is no error, but a diagnostic.
    pub async fn infer_tools(
        &self,
        source: &str,
        options: &InferOptions,
    ) -> Result<InferredTools, Error> {
        let request = pb::InferToolsRequest {
            source: source.as_bytes().to_vec().into(),
            ..options.encode()
        };
        Ok(self.connection.call(request).await?.try_into()?)
    }

    /// Adapts a definition to an MCP protocol version. Empty is that of the client, or the one
    /// that the tool was registered under, or the server's default. With `portable`, the
    /// definition is also rewritten so that model APIs and clients accept it as it is.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn adapt_tool(
        &self,
        tool: impl Into<Target>,
        protocol_version: &str,
        portable: Option<&Portability>,
    ) -> Result<AdaptedTool, Error> {
        let request = pb::AdaptToolRequest {
            tool: Some(tool.into().into()),
            protocol_version: version_or(protocol_version, self.connection.protocol_version()),
            min_revision: self.connection.min_revision(),
            portable: portable.map(Into::into),
        };
        Ok(self.connection.call(request).await?.try_into()?)
    }
}
