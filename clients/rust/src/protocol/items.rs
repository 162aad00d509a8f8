//! What is checked against the rules of the protocol, and the result.

use serde::{Deserialize, Serialize};

use crate::enumeration::enumeration;
use crate::error::Error;
use crate::json::Json;
use crate::status::item_error;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::values::verdict::{Severity, Verdict};
use crate::version::version_or;

enumeration! {
    /// Rules that apply to a tool result.
    ResultProfile: pb::ResultProfile {
        /// Those of the specification.
        Specification,
        /// Also those of a result that is text only.
        Text,
    }
}

enumeration! {
    /// Sender of a message.
    Sender: pb::Sender {
        /// The client.
        Client,
        /// The server.
        Server,
    }
}

/// Protocol version and negotiated capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolContext {
    /// MCP protocol version. Empty is the client's own, or else the server's default.
    pub protocol_version: String,
    /// `capabilities` of the client, if known.
    pub client_capabilities: Option<Json>,
    /// `capabilities` of the server, if known.
    pub server_capabilities: Option<Json>,
}

impl ProtocolContext {
    pub(crate) fn encode(&self, default_version: &str) -> pb::ProtocolContext {
        pb::ProtocolContext {
            protocol_version: version_or(&self.protocol_version, default_version),
            client_capabilities: self.client_capabilities.clone().map(Json::into_bytes),
            server_capabilities: self.server_capabilities.clone().map(Json::into_bytes),
        }
    }
}

/// Options of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckOptions {
    /// Maximum number of violations in a verdict; 0 is the server's default.
    pub max_violations: u32,
    /// Whether messages leave out values.
    pub hide_values: bool,
    /// Least severity to report.
    pub min_severity: Severity,
}

impl CheckOptions {
    pub(crate) fn encode(&self) -> pb::CheckOptions {
        pb::CheckOptions {
            max_violations: self.max_violations,
            hide_values: self.hide_values,
            min_severity: self.min_severity.into(),
        }
    }
}

/// What to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckItem {
    /// `params` of an `elicitation/create`.
    Elicitation(Json),
    /// Result of an elicitation, with the `params` of its request if known.
    ElicitationResult {
        /// The result.
        result: Json,
        /// `params` of the request.
        params: Option<Json>,
    },
    /// `params` of a `sampling/createMessage`.
    Sampling(Json),
    /// A `CallToolResult`.
    ToolResult(ToolResult),
    /// A JSON-RPC message.
    Message(ProtocolMessage),
}

/// A `CallToolResult`, and the tool that returned it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolResult {
    /// The result.
    pub json: Json,
    /// Rules that apply.
    pub profile: ResultProfile,
    /// The tool, whose output schema the structured content is validated against, if known.
    pub tool: Option<Target>,
}

impl ToolResult {
    /// The result of a tool that is not known.
    pub fn new(json: impl Into<Json>) -> Self {
        Self {
            json: json.into(),
            ..Self::default()
        }
    }
}

/// A JSON-RPC message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolMessage {
    /// The message.
    pub json: Json,
    /// Sender of the message, if known.
    pub sender: Sender,
    /// Method of the request that a response answers. Empty if unknown.
    pub request_method: String,
    /// The request that a response answers, if known.
    pub request: Option<Json>,
}

impl ProtocolMessage {
    /// A message of `sender`.
    pub fn new(json: impl Into<Json>, sender: Sender) -> Self {
        Self {
            json: json.into(),
            sender,
            ..Self::default()
        }
    }
}

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    /// Verdict on what was checked.
    pub verdict: Verdict,
    /// JSON-RPC response to send. Empty if there is none.
    pub error_response: Json,
}

impl CheckResult {
    /// The result with a verdict of the client itself.
    pub(crate) fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            error_response: Json::default(),
        }
    }
}

impl CheckItem {
    pub(crate) fn encode(self) -> pb::check_item::Item {
        use pb::check_item::Item;
        match self {
            Self::Elicitation(params) => Item::Elicitation(pb::Elicitation {
                params: params.into_bytes(),
            }),
            Self::ElicitationResult { result, params } => {
                Item::ElicitationResult(pb::ElicitationResult {
                    result: result.into_bytes(),
                    params: params.unwrap_or_default().into_bytes(),
                })
            }
            Self::Sampling(params) => Item::Sampling(pb::Sampling {
                params: params.into_bytes(),
            }),
            Self::ToolResult(result) => Item::ToolResult(result.into()),
            Self::Message(message) => Item::Message(message.into()),
        }
    }
}

impl From<ToolResult> for pb::ToolResult {
    fn from(result: ToolResult) -> Self {
        Self {
            json: result.json.into_bytes(),
            profile: result.profile.into(),
            tool: result.tool.map(Into::into),
        }
    }
}

impl From<ProtocolMessage> for pb::ProtocolMessage {
    fn from(message: ProtocolMessage) -> Self {
        Self {
            json: message.json.into_bytes(),
            sender: message.sender.into(),
            request_method: message.request_method,
            request: message.request.unwrap_or_default().into_bytes(),
        }
    }
}

pub(crate) fn decode_result(result: Option<pb::CheckResult>) -> Result<CheckResult, Error> {
    let result = result.ok_or_else(|| Error::missing("result"))?;
    let verdict = result
        .verdict
        .ok_or_else(|| Error::missing("CheckResult.verdict"))?;
    Ok(CheckResult {
        verdict: verdict.try_into()?,
        error_response: result.error_response.into(),
    })
}

pub(crate) fn decode_outcome(outcome: pb::CheckOutcome) -> Result<CheckResult, Error> {
    use pb::check_outcome::Outcome;
    match outcome.outcome {
        Some(Outcome::Result(result)) => decode_result(Some(result)),
        Some(Outcome::Error(status)) => Err(item_error(Some(status))),
        None => Err(item_error(None)),
    }
}
