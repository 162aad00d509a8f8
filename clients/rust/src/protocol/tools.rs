//! Checks of tool names and definitions.

use serde::Serialize;

use crate::enumeration::enumeration;
use crate::error::Error;
use crate::json::Json;
use crate::protocol::{CheckOptions, Protocol, ProtocolContext};
use crate::registry::Document;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::{ToolDefinition, encode_documents};
use crate::values::verdict::Verdict;

/// Result of a check of tool names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckedNames {
    /// Outcomes of the names, in order.
    pub outcomes: Vec<ToolNameOutcome>,
    /// Names that become equal when they are sanitized.
    pub collisions: Vec<NameCollision>,
}

/// Outcome of the check of one tool name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolNameOutcome {
    /// Verdict on the name; its locations are empty.
    pub verdict: Verdict,
    /// Whether the Python SDK accepts the name: 1 to 128 characters of `A-Za-z0-9_.-`.
    pub sdk_valid: bool,
    /// Warnings of the Python SDK, verbatim and in its order.
    pub sdk_warnings: Vec<String>,
    /// The name reduced to 64 characters of `A-Za-z0-9_-`.
    pub sanitized: String,
}

/// Names that become equal when they are sanitized.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NameCollision {
    /// The sanitized name.
    pub sanitized: String,
    /// Indexes of the names in the request, from 0.
    pub indexes: Vec<u32>,
}

enumeration! {
    /// What a conforming client does with a tool.
    Disposition: pb::tool_outcome::Disposition {
        /// It uses the tool.
        Keep,
        /// It uses the tool; the violations deserve attention.
        Warn,
        /// It ignores the tool and uses the others.
        Drop,
    }
}

/// Result of a check of tool definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckedTools {
    /// Outcomes of the definitions, in order.
    pub outcomes: Vec<ToolOutcome>,
    /// Verdict on the tools list apart from the definitions in it.
    pub tools_list_verdict: Verdict,
}

/// Outcome of the check of one tool definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolOutcome {
    /// Name of the tool. Empty if the definition has none.
    pub name: String,
    /// JSON Pointer to the definition in the tools list. Empty for separate definitions.
    pub pointer: String,
    /// What a conforming client does with the tool.
    pub disposition: Disposition,
    /// Verdict on the definition; instance locations point into it.
    pub verdict: Verdict,
}

impl Protocol {
    /// Checks tool names, individually and as a set; at most
    /// [`Limits::batch_items`](crate::Limits::batch_items). Of the context only the protocol
    /// version is used.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn check_names<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckedNames, Error> {
        let request = pb::CheckToolNamesRequest {
            context: self.encode_context(context),
            options: Some(options.encode()),
            names: names.into_iter().map(Into::into).collect(),
        };
        let count = request.names.len();
        let response = self.connection.call(request).await?;
        require_count(
            "CheckToolNamesResponse.outcomes",
            response.outcomes.len(),
            count,
        )?;
        let outcomes = response.outcomes.into_iter().map(ToolNameOutcome::try_from);
        let decode = |collision: pb::NameCollision| NameCollision {
            sanitized: collision.sanitized,
            indexes: collision.indexes,
        };
        Ok(CheckedNames {
            outcomes: outcomes.collect::<Result<_, _>>()?,
            collisions: response.collisions.into_iter().map(decode).collect(),
        })
    }

    /// Checks traffic: a `tools/list` result, bare or in its JSON-RPC response, a list of
    /// definitions, or one definition. The documents are those that the schemas refer to.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn check_tools(
        &self,
        tools_list: impl Into<Json>,
        documents: impl IntoIterator<Item = Document>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckedTools, Error> {
        let request = pb::CheckToolsRequest {
            context: self.encode_context(context),
            options: Some(options.encode()),
            tools_list: tools_list.into().into_bytes(),
            documents: encode_documents(documents.into_iter().collect()),
            ..Default::default()
        };
        self.call_tools(request).await
    }

    /// Checks definitions before they are registered or listed. They are read as
    /// [`Client::register`](crate::Client::register) does, with the same violations.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn check_definitions(
        &self,
        tools: impl IntoIterator<Item = ToolDefinition>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckedTools, Error> {
        let request = pb::CheckToolsRequest {
            context: self.encode_context(context),
            options: Some(options.encode()),
            tools: tools.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call_tools(request).await
    }

    async fn call_tools(&self, request: pb::CheckToolsRequest) -> Result<CheckedTools, Error> {
        let count = request.tools.len();
        let response = self.connection.call(request).await?;
        if count > 0 {
            require_count(
                "CheckToolsResponse.outcomes",
                response.outcomes.len(),
                count,
            )?;
        }
        let outcomes = response.outcomes.into_iter().map(ToolOutcome::try_from);
        Ok(CheckedTools {
            outcomes: outcomes.collect::<Result<_, _>>()?,
            tools_list_verdict: response
                .tools_list_verdict
                .ok_or_else(|| Error::missing("CheckToolsResponse.tools_list_verdict"))?
                .try_into()?,
        })
    }
}

fn require_count(field: &str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::invalid_response(format!(
        "{field} has {found} elements for {expected} items"
    )))
}

impl TryFrom<pb::ToolNameOutcome> for ToolNameOutcome {
    type Error = Error;

    fn try_from(message: pb::ToolNameOutcome) -> Result<Self, Error> {
        let verdict = message.verdict.map(Verdict::try_from).transpose()?;
        Ok(Self {
            verdict: verdict.ok_or_else(|| Error::missing("ToolNameOutcome.verdict"))?,
            sdk_valid: message.sdk_valid,
            sdk_warnings: message.sdk_warnings,
            sanitized: message.sanitized,
        })
    }
}

impl TryFrom<pb::ToolOutcome> for ToolOutcome {
    type Error = Error;

    fn try_from(message: pb::ToolOutcome) -> Result<Self, Error> {
        let verdict = message.verdict.map(Verdict::try_from).transpose()?;
        Ok(Self {
            name: message.name,
            pointer: message.pointer,
            disposition: message.disposition.into(),
            verdict: verdict.ok_or_else(|| Error::missing("ToolOutcome.verdict"))?,
        })
    }
}
