//! Inference of tool definitions from source text, and their adaptation to protocol versions.

use serde::{Deserialize, Serialize};

use crate::connection::Connection;
use crate::enumeration::enumeration;
use crate::error::Error;
use crate::json::Json;
use crate::portability::{Portability, PortableForm};
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::validation::version_or;
use crate::values::verdict::Severity;
use crate::verdict::convert_all;

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

/// Result of an inference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InferredTools {
    /// Tools, in the order of the text.
    pub tools: Vec<InferredTool>,
    /// Diagnostics, by line and column.
    pub diagnostics: Vec<Diagnostic>,
}

/// A definition that was inferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InferredTool {
    /// The canonical definition; its output schema may have any root.
    pub json: Json,
    /// Qualified name of the function.
    pub function: String,
    /// Line of its `def` statement, from 1.
    pub line: u32,
    /// Digest of the definition.
    pub definition_digest: String,
}

/// What inference could not read in source text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable code in upper snake case, for example `UNRESOLVED_NAME`.
    pub code: String,
    /// Severity. An error means that the tool was not inferred.
    pub severity: Severity,
    /// What is wrong and what would be right.
    pub message: String,
    /// Line, from 1; 0 for the text as a whole.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column after the end.
    pub end_column: u32,
    /// Qualified name of the function concerned, or empty.
    pub function: String,
    /// Name of the parameter concerned, or empty.
    pub parameter: String,
}

/// A definition adapted to a protocol version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AdaptedTool {
    /// The definition; byte for byte the original if nothing had to change.
    pub json: Json,
    /// Property of the structured content that contains the value, if the output schema is
    /// wrapped. Empty otherwise.
    pub wrapped_property: String,
    /// Properties of the definition that the version does not define.
    pub dropped_properties: Vec<String>,
    /// Losses and mapping; none if the definition was not made portable.
    pub portable: Option<PortableForm>,
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
        let response = self.connection.call(request).await?;
        let tools = response.tools.into_iter().map(InferredTool::try_from);
        Ok(InferredTools {
            tools: tools.collect::<Result<_, _>>()?,
            diagnostics: convert_all(response.diagnostics),
        })
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
        let response = self.connection.call(request).await?;
        if response.json.is_empty() {
            return Err(Error::missing("AdaptToolResponse.json"));
        }
        Ok(AdaptedTool {
            json: response.json.into(),
            wrapped_property: response.wrapped_property,
            dropped_properties: response.dropped_properties,
            portable: response.portable.map(TryInto::try_into).transpose()?,
        })
    }
}

impl TryFrom<pb::InferredTool> for InferredTool {
    type Error = Error;

    fn try_from(message: pb::InferredTool) -> Result<Self, Error> {
        if message.json.is_empty() {
            return Err(Error::missing("InferredTool.json"));
        }
        Ok(Self {
            json: message.json.into(),
            function: message.function,
            line: message.line,
            definition_digest: message.definition_digest,
        })
    }
}

impl From<pb::Diagnostic> for Diagnostic {
    fn from(message: pb::Diagnostic) -> Self {
        Self {
            code: message.code,
            severity: Severity::of_response(message.severity),
            message: message.message,
            line: message.line,
            column: message.column,
            end_line: message.end_line,
            end_column: message.end_column,
            function: message.function,
            parameter: message.parameter,
        }
    }
}
