//! Checks of messages against the rules of the Model Context Protocol.

use serde::{Deserialize, Serialize};

use crate::connection::Connection;
use crate::enumeration::enumeration;
use crate::error::Error;
use crate::json::Json;
use crate::rpc::Rpc;
use crate::status::item_error;
use crate::stubs::sidecheck::v1 as pb;
use crate::target::Target;
use crate::validation::version_or;
use crate::verdict::{Severity, Verdict};

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
    /// The tool, if known.
    pub tool: Option<Target>,
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

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    /// Verdict on what was checked.
    pub verdict: Verdict,
    /// JSON-RPC response to send. Empty if there is none.
    pub error_response: Json,
}

/// The checks of a client.
#[derive(Clone)]
pub struct Protocol {
    connection: Connection,
}

impl Protocol {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// Checks one item. The policy for unavailable servers applies.
    ///
    /// # Errors
    ///
    /// No verdict was possible.
    pub async fn check(
        &self,
        item: CheckItem,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<CheckResult, Error> {
        use pb::check_item::Item;
        let context = Some(self.encode_context(context));
        let options = Some(encode_options(options));
        match encode_item(item) {
            Item::Elicitation(item) => {
                let elicitation = Some(item);
                let request = pb::CheckElicitationRequest {
                    context,
                    options,
                    elicitation,
                };
                self.call(request, |response| response.result).await
            }
            Item::ElicitationResult(item) => {
                let elicitation_result = Some(item);
                let request = pb::CheckElicitationResultRequest {
                    context,
                    options,
                    elicitation_result,
                };
                self.call(request, |response| response.result).await
            }
            Item::Sampling(item) => {
                let sampling = Some(item);
                let request = pb::CheckSamplingRequest {
                    context,
                    options,
                    sampling,
                };
                self.call(request, |response| response.result).await
            }
            Item::ToolResult(item) => {
                let tool_result = Some(item);
                let request = pb::CheckToolResultRequest {
                    context,
                    options,
                    tool_result,
                };
                self.call(request, |response| response.result).await
            }
            Item::Message(item) => {
                let message = Some(item);
                let request = pb::CheckMessageRequest {
                    context,
                    options,
                    message,
                };
                self.call(request, |response| response.result).await
            }
        }
    }

    /// Checks many items and returns their outcomes in order, as
    /// [`Client::validate_batch`](crate::Client::validate_batch) does.
    ///
    /// # Errors
    ///
    /// The batch as a whole failed.
    pub async fn check_batch(
        &self,
        items: impl IntoIterator<Item = CheckItem>,
        context: &ProtocolContext,
        options: &CheckOptions,
    ) -> Result<Vec<Result<CheckResult, Error>>, Error> {
        let encode_element = |item| pb::CheckItem {
            item: Some(encode_item(item)),
        };
        let items = items.into_iter().map(encode_element).collect();
        let encode = |items| pb::CheckBatchRequest {
            context: Some(self.encode_context(context)),
            options: Some(encode_options(options)),
            items,
        };
        let decode = |response: pb::CheckBatchResponse| {
            response.outcomes.into_iter().map(decode_outcome).collect()
        };
        self.connection
            .call_in_parts(items, encode, decode, fallback)
            .await
    }

    async fn call<R: Rpc>(
        &self,
        request: R,
        result_of: impl FnOnce(R::Response) -> Option<pb::CheckResult>,
    ) -> Result<CheckResult, Error> {
        let response = self.connection.call(request).await;
        let result = response.and_then(|response| decode_result(result_of(response)));
        self.connection.settle(result, fallback)
    }

    fn encode_context(&self, context: &ProtocolContext) -> pb::ProtocolContext {
        let default = self.connection.protocol_version();
        pb::ProtocolContext {
            protocol_version: version_or(&context.protocol_version, default),
            client_capabilities: context.client_capabilities.clone().map(Json::into_bytes),
            server_capabilities: context.server_capabilities.clone().map(Json::into_bytes),
        }
    }
}

fn fallback(verdict: Verdict) -> CheckResult {
    CheckResult {
        verdict,
        error_response: Json::default(),
    }
}

fn encode_options(options: &CheckOptions) -> pb::CheckOptions {
    pb::CheckOptions {
        max_violations: options.max_violations,
        hide_values: options.hide_values,
        min_severity: options.min_severity.into(),
    }
}

fn encode_item(item: CheckItem) -> pb::check_item::Item {
    use pb::check_item::Item;
    match item {
        CheckItem::Elicitation(params) => Item::Elicitation(pb::Elicitation {
            params: params.into_bytes(),
        }),
        CheckItem::ElicitationResult { result, params } => {
            Item::ElicitationResult(pb::ElicitationResult {
                result: result.into_bytes(),
                params: params.unwrap_or_default().into_bytes(),
            })
        }
        CheckItem::Sampling(params) => Item::Sampling(pb::Sampling {
            params: params.into_bytes(),
        }),
        CheckItem::ToolResult(result) => Item::ToolResult(pb::ToolResult {
            json: result.json.into_bytes(),
            profile: result.profile.into(),
            tool: result.tool.map(Into::into),
        }),
        CheckItem::Message(message) => Item::Message(pb::ProtocolMessage {
            json: message.json.into_bytes(),
            sender: message.sender.into(),
            request_method: message.request_method,
            request: message.request.unwrap_or_default().into_bytes(),
        }),
    }
}

fn decode_result(result: Option<pb::CheckResult>) -> Result<CheckResult, Error> {
    let result = result.ok_or_else(|| Error::missing("result"))?;
    let verdict = result
        .verdict
        .ok_or_else(|| Error::missing("CheckResult.verdict"))?;
    Ok(CheckResult {
        verdict: verdict.into(),
        error_response: result.error_response.into(),
    })
}

fn decode_outcome(outcome: pb::CheckOutcome) -> Result<CheckResult, Error> {
    use pb::check_outcome::Outcome;
    match outcome.outcome {
        Some(Outcome::Result(result)) => decode_result(Some(result)),
        Some(Outcome::Error(status)) => Err(item_error(Some(status))),
        None => Err(item_error(None)),
    }
}
