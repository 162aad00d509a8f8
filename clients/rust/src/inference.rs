//! Inference of tool definitions from source text, and their adaptation to protocol versions.

use serde::{Deserialize, Serialize};

use crate::connection::Connection;
use crate::enumeration::enumeration;
use crate::error::Error;
use crate::portability::Portability;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::validation::version_or;
use crate::values::inference::{AdaptedTool, InferredTools};

enumeration! {
    /// Treatment of an annotation that has no schema; [`OnUnsupported::Error`] by default.
    OnUnsupported: pb::OnUnsupported {
        /// The tool is not inferred; a diagnostic gives the reason.
        Error,
        /// Any value is accepted there; a warning reports it.
        Any,
    }
}

/// Options of an inference; the defaults are those of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InferOptions {
    /// Names of the functions that are tools, `Class.method` for a method. Empty is those with
    /// a decorator called `tool`, or all public functions if there is none.
    pub functions: Vec<String>,
    /// Treatment of annotations that have no schema.
    pub on_unsupported: OnUnsupported,
    /// Names of further types whose parameters are no arguments, beside `Context`.
    pub injected_types: Vec<String>,
    /// Names of parameters that are no arguments.
    pub injected_parameters: Vec<String>,
}

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
        let options = options.clone();
        let request = pb::InferToolsRequest {
            source: source.as_bytes().to_vec().into(),
            functions: options.functions,
            on_unsupported: options.on_unsupported.into(),
            injected_types: options.injected_types,
            injected_parameters: options.injected_parameters,
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
