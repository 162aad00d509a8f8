//! What became of converted tools, calls and results.

use serde::Serialize;

use crate::decoding::convert_all;
use crate::error::{Error, ErrorKind};
use crate::json::Json;
use crate::status::item_error;
use crate::stubs::sidecheck::v1 as pb;
use crate::values::losses::Loss;
use crate::values::verdict::{Change, Verdict};

/// Result of a conversion of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvertedTools {
    /// Conversions of the tools, in the order of the request.
    pub conversions: Vec<ToolConversion>,
    /// Verdict on the converted tools as one request to the API. Instance locations point into
    /// the list of the tools that were converted.
    pub request: Verdict,
}

impl ConvertedTools {
    /// The mappings of all converted tools, for
    /// [`Conversion::convert_tool_call`](crate::Conversion::convert_tool_call).
    pub fn mappings(&self) -> Vec<Json> {
        let converted = self.conversions.iter().flat_map(|each| &each.outcome);
        converted.map(|tool| tool.mapping.clone()).collect()
    }
}

/// Outcome of the conversion of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolConversion {
    /// Server that offers the tool, or empty.
    pub server: String,
    /// Name of the tool. Empty if it cannot be read.
    pub name: String,
    /// The converted tool, or why it was not converted.
    pub outcome: Result<ConvertedTool, Error>,
}

/// A tool in the format of an API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConvertedTool {
    /// The tool: an element of `tools` in the request, of `functionDeclarations` for Gemini, of
    /// `toolConfig.tools` for Bedrock.
    pub json: Json,
    /// Name of the tool in the request.
    pub name: String,
    /// Whether the tool uses the strict mode of the API.
    pub strict: bool,
    /// What [`Conversion::convert_tool_call`](crate::Conversion::convert_tool_call) needs. It
    /// contains no payload values and may be stored anywhere. It belongs to this definition.
    pub mapping: Json,
    /// All differences from the definition, by location.
    pub losses: Vec<Loss>,
    /// Reason why the tool is not strict although the mode prefers it. Empty otherwise.
    pub not_strict_reason: String,
}

/// The call of a model in the form of MCP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConvertedCall {
    /// Server that offers the tool, or empty.
    pub server: String,
    /// Original name of the tool.
    pub tool: String,
    /// ID of the call, assigned by the API; it may be empty.
    pub call_id: String,
    /// `params` of the `tools/call`. Empty if the arguments are no JSON object.
    pub call_params: Json,
    /// Verdict on the arguments against the original input schema. If the call cannot be read,
    /// instance locations point into the call.
    pub verdict: Verdict,
    /// Changes of the arguments other than renamed properties.
    pub changes: Vec<Change>,
    /// Name of the tool in the request, for
    /// [`ToolResultToConvert::name`](crate::ToolResultToConvert::name). Empty if it cannot be
    /// read.
    pub name: String,
}

/// A tool result in the form of an API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConvertedResult {
    /// Message that returns the result to the model, with media in base64. If the verdict is
    /// invalid, it reports a failure.
    pub message: Json,
    /// Parts of the result that the API cannot express.
    pub losses: Vec<Loss>,
    /// Verdict on the result.
    pub verdict: Verdict,
}

impl TryFrom<pb::ConvertToolsResponse> for ConvertedTools {
    type Error = Error;

    fn try_from(message: pb::ConvertToolsResponse) -> Result<Self, Error> {
        let request = message.request.map(Verdict::try_from).transpose()?;
        let conversions = message.conversions.into_iter();
        Ok(Self {
            conversions: conversions
                .map(ToolConversion::try_from)
                .collect::<Result<_, _>>()?,
            request: request.ok_or_else(|| Error::missing("ConvertToolsResponse.request"))?,
        })
    }
}

impl TryFrom<pb::ToolConversion> for ToolConversion {
    /// The response is invalid.
    type Error = Error;

    fn try_from(message: pb::ToolConversion) -> Result<Self, Error> {
        use pb::tool_conversion::Outcome;
        let outcome = match message.outcome {
            Some(Outcome::Converted(tool)) => Ok(tool.try_into()?),
            Some(Outcome::Error(status)) => Err(item_error(Some(status))),
            None => Err(item_error(None)),
        };
        match outcome {
            Err(error) if error.kind() == &ErrorKind::InvalidResponse => Err(error),
            outcome => Ok(Self {
                server: message.server,
                name: message.name,
                outcome,
            }),
        }
    }
}

impl TryFrom<pb::ConvertedTool> for ConvertedTool {
    type Error = Error;

    fn try_from(message: pb::ConvertedTool) -> Result<Self, Error> {
        if message.json.is_empty() {
            return Err(Error::missing("ConvertedTool.json"));
        }
        Ok(Self {
            json: message.json.into(),
            name: message.name,
            strict: message.strict,
            mapping: message.mapping.into(),
            losses: convert_all(message.losses),
            not_strict_reason: message.not_strict_reason,
        })
    }
}
