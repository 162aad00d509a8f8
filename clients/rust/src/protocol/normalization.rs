//! Tool results, made of what tools return.

use serde::Serialize;

use crate::error::Error;
use crate::json::Json;
use crate::protocol::{CheckOptions, Protocol, ProtocolContext, ResultProfile};
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::values::verdict::Verdict;

/// What a tool returned. The form of a value does not decide what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returned {
    /// Data.
    Value(Json),
    /// One content block, or a list of them.
    Content(Json),
    /// A whole `CallToolResult`.
    Result(Json),
    /// The error of a tool that failed, for the model.
    Error(String),
}

/// A conforming `CallToolResult`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NormalizedResult {
    /// The `CallToolResult`; it is always valid.
    pub result: Json,
    /// Verdict on what the tool returned. If it is invalid, the result reports the failure.
    pub verdict: Verdict,
}

impl Protocol {
    /// Makes a conforming `CallToolResult` of what `tool` returned; its output schema decides
    /// the form of the structured content.
    ///
    /// A result that breaks the protocol or the output schema is replaced by one with `isError`
    /// that describes the violations. Of the context only the protocol version is used.
    ///
    /// # Errors
    ///
    /// The call failed. The policy for unavailable servers does not apply.
    pub async fn normalize_tool_result(
        &self,
        returned: Returned,
        tool: Option<&Target>,
        profile: ResultProfile,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<NormalizedResult, Error> {
        let request = pb::NormalizeToolResultRequest {
            context: self.encode_context(context),
            options: Some(options.encode()),
            returned: Some(returned.into()),
            tool: tool.cloned().map(Into::into),
            profile: profile.into(),
            min_revision: self.connection.min_revision(),
        };
        let response = self.connection.call(request).await?;
        if response.result.is_empty() {
            return Err(Error::missing("NormalizeToolResultResponse.result"));
        }
        let verdict = response.verdict.map(Verdict::try_from).transpose()?;
        Ok(NormalizedResult {
            result: response.result.into(),
            verdict: verdict
                .ok_or_else(|| Error::missing("NormalizeToolResultResponse.verdict"))?,
        })
    }
}

impl From<Returned> for pb::normalize_tool_result_request::Returned {
    fn from(returned: Returned) -> Self {
        match returned {
            Returned::Value(json) => Self::Value(json.into_bytes()),
            Returned::Content(json) => Self::Content(json.into_bytes()),
            Returned::Result(json) => Self::Result(json.into_bytes()),
            Returned::Error(message) => Self::Error(message),
        }
    }
}
