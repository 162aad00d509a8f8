//! Conversions between MCP and the APIs of model providers.

mod options;
mod results;

use crate::connection::Connection;
use crate::decoding::convert_all;
use crate::error::Error;
use crate::json::Json;
use crate::protocol::{CheckOptions, ProtocolContext};
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::validation::Options;
use crate::values::verdict::Verdict;

pub use crate::values::conversion_options::{
    ConversionMode, ConversionOptions, ModelApi, ServerPrefix,
};
pub use options::{ToolResultToConvert, ToolToConvert};
pub use results::{ConvertedCall, ConvertedResult, ConvertedTool, ConvertedTools, ToolConversion};

/// The conversions of a client.
///
/// What an API cannot express is reported as a [`Loss`](crate::Loss). The policy for unavailable
/// servers does not apply.
#[derive(Clone)]
pub struct Conversion {
    connection: Connection,
}

impl Conversion {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// Converts tools for one request to `api`, with names that are unique in it. The registered
    /// tools of `servers` follow `tools`, by name. Together they may be as many as
    /// [`Limits::batch_items`](crate::Limits::batch_items).
    ///
    /// # Errors
    ///
    /// Nothing was converted.
    pub async fn convert_tools<S: Into<String>>(
        &self,
        api: ModelApi,
        tools: impl IntoIterator<Item = ToolToConvert>,
        servers: impl IntoIterator<Item = S>,
        options: &ConversionOptions,
    ) -> Result<ConvertedTools, Error> {
        let tools: Vec<_> = tools.into_iter().map(pb::ToolToConvert::from).collect();
        let servers: Vec<String> = servers.into_iter().map(Into::into).collect();
        // The registered tools of servers are as many as the server has.
        let expected = servers.is_empty().then_some(tools.len());
        let request = pb::ConvertToolsRequest {
            api: api.into(),
            options: Some(options.encode(self.connection.protocol_version())),
            tools,
            servers,
            min_revision: self.connection.min_revision(),
        };
        let response = self.connection.call(request).await?;
        let found = response.conversions.len();
        if expected.is_some_and(|expected| expected != found) {
            return Err(Error::invalid_response(format!(
                "ConvertToolsResponse.conversions has {found} elements for {} items",
                expected.unwrap_or_default()
            )));
        }
        response.try_into()
    }

    /// Converts the call of a model to the params of a `tools/call`, and validates it with
    /// `options` against the original input schema.
    ///
    /// `call` is as the API returned it: an element of `tool_calls`, a `function_call` item, a
    /// `tool_use` block, a `functionCall` or `toolUse` part. `mappings` are that of the tool, or
    /// those of all tools of the request: see [`ConvertedTools::mappings`]. `tool` is the
    /// original; without it, the registered definition that the mapping names.
    ///
    /// # Errors
    ///
    /// Nothing was converted. A call that cannot be read is no error: its verdict is invalid.
    pub async fn convert_tool_call(
        &self,
        call: impl Into<Json>,
        mappings: impl IntoIterator<Item = Json>,
        tool: Option<&Target>,
        options: &Options,
    ) -> Result<ConvertedCall, Error> {
        let request = pb::ConvertToolCallRequest {
            call: call.into().into_bytes(),
            mappings: mappings.into_iter().map(Json::into_bytes).collect(),
            tool: tool.cloned().map(Into::into),
            options: Some(options.encode(self.connection.protocol_version())),
            min_revision: self.connection.min_revision(),
        };
        let response = self.connection.call(request).await?;
        let verdict = response.verdict.map(Verdict::try_from).transpose()?;
        Ok(ConvertedCall {
            server: response.server,
            tool: response.tool,
            call_id: response.call_id,
            call_params: response.call_params.into(),
            verdict: verdict.ok_or_else(|| Error::missing("ConvertToolCallResponse.verdict"))?,
            changes: convert_all(response.changes),
            name: response.name,
        })
    }

    /// Converts a `CallToolResult` to the message that returns it to the model.
    ///
    /// # Errors
    ///
    /// Nothing was converted.
    pub async fn convert_tool_result(
        &self,
        api: ModelApi,
        result: ToolResultToConvert,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<ConvertedResult, Error> {
        let request = pb::ConvertToolResultRequest {
            api: api.into(),
            result: Some(result.result.into()),
            call_id: result.call_id,
            name: result.name,
            context: Some(context.encode(self.connection.protocol_version())),
            options: Some(options.encode()),
            min_revision: self.connection.min_revision(),
        };
        let response = self.connection.call(request).await?;
        if response.message.is_empty() {
            return Err(Error::missing("ConvertToolResultResponse.message"));
        }
        let verdict = response.verdict.map(Verdict::try_from).transpose()?;
        Ok(ConvertedResult {
            message: response.message.into(),
            losses: convert_all(response.losses),
            verdict: verdict.ok_or_else(|| Error::missing("ConvertToolResultResponse.verdict"))?,
        })
    }
}
