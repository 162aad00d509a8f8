//! Validation of tool calls and their results.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    ProtocolVersion, ResultType, ServerResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::error::Error;
use crate::json::Json;
use crate::mcp::failure::{Failure, internal_error, undecodable};
use crate::mcp::registrar::{Registrar, Session, as_sent, definitions_of};
use crate::mcp::settings::Settings;
use crate::target::RegisteredTool;
use crate::validation::{Coercion, Options, Subject, UnknownArguments};
use crate::values::error_reasons;
use crate::values::verdict::Verdict;

/// Validates the calls of one MCP server.
#[derive(Clone)]
pub(super) struct Validator {
    pub(super) settings: Settings,
    registrar: Arc<Registrar>,
}

impl Validator {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            registrar: Arc::default(),
        }
    }

    /// Notes a page of tools that the server sends in a session of `version`.
    pub(super) fn observe(&self, version: Option<&ProtocolVersion>, page: &ListToolsResult) {
        let version = version.map_or("", ProtocolVersion::as_str);
        // A page that does not encode fails where it is registered or sent.
        if let Ok(definitions) = definitions_of(version, page) {
            self.registrar.observe(version, &definitions);
        }
    }

    /// Returns the handler's result, or what replaces it.
    pub(super) async fn call<H: ServerHandler>(
        &self,
        handler: &H,
        mut params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let version = context.protocol_version();
        let version = version.map_or(String::new(), |version| version.as_str().to_owned());
        let options = self.settings.options_for(&version);
        let mut call = Call {
            validator: self,
            session: Session {
                handler,
                context: &context,
                version,
            },
            tool: params.name.to_string(),
            is_renewed: false,
        };
        let target = RegisteredTool::of_server(&self.settings.server);
        let subject = Subject::CallParams(encode_params(&params, &context)?);
        let verdict = call.verdict(target, subject, &options).await?;
        match &verdict.repair {
            Some(repair) if verdict.enforced && repair.valid => {
                let repaired = repair.payload.decode::<CallToolRequestParams>();
                params.arguments = repaired.map_err(|_| undecodable())?.arguments;
            }
            _ if verdict.enforced && !verdict.valid => return replacement(&verdict),
            _ => {}
        }
        let response = handler.call_tool(params, context.clone()).await?;
        let CallToolResponse::Complete(result) = response else {
            return Ok(response);
        };
        if is_stand_in(&verdict) {
            return Ok(result.into());
        }
        let target = RegisteredTool::new(&self.settings.server, &call.tool);
        let sent = as_sent(
            &call.session.version,
            ServerResult::CallToolResult(result.clone()),
        );
        let subject = Subject::CallResult(encode(&sent)?);
        // The repairs of arguments are none of a result.
        let options = Options {
            coercion: Coercion::default(),
            unknown_arguments: UnknownArguments::default(),
            apply_defaults: false,
            ..options
        };
        let verdict = call.verdict(target, subject, &options).await?;
        if verdict.valid || !verdict.enforced {
            Ok(result.into())
        } else {
            replacement(&verdict)
        }
    }
}

/// One `tools/call` request.
struct Call<'a, H> {
    validator: &'a Validator,
    session: Session<'a, H>,
    tool: String,
    /// Whether the tools were registered again for this call.
    is_renewed: bool,
}

impl<H: ServerHandler> Call<'_, H> {
    /// Returns the verdict, with the client's policy for unavailable servers applied.
    async fn verdict(
        &mut self,
        target: RegisteredTool,
        subject: Subject,
        options: &Options,
    ) -> Result<Verdict, ErrorData> {
        let cancelled = self.session.context.ct.clone();
        let settings = &self.validator.settings;
        let result = tokio::select! {
            // The SDK sends no response to a cancelled request.
            () = cancelled.cancelled() => return Err(internal_error("the request was cancelled")),
            result = self.validate_registered(target, subject, options) => result,
        };
        let verdict = match result {
            Ok(verdict) => verdict,
            Err(Failure::Reply(error)) => return Err(error),
            Err(Failure::Sidecheck(error)) => {
                if let Some(reply) = error.json_rpc_error() {
                    return Err(serde_json::from_value(reply).map_err(|_| undecodable())?);
                }
                (settings.on_error)(&error);
                settings.client.settle(error).map_err(|error| {
                    let fault = match error.is_unavailable() {
                        true => "Sidecheck is unavailable",
                        false => "Sidecheck could not validate the call",
                    };
                    internal_error(format!("{fault}: {}", error.reason()))
                })?
            }
        };
        if is_stand_in(&verdict) || !verdict.valid && !verdict.enforced {
            (settings.on_report)(&self.tool, &verdict);
        }
        Ok(verdict)
    }

    /// Returns the verdict, with the tools registered.
    ///
    /// Sidecheck may have lost them, by a restart with an empty registry: a tool that it does
    /// not know and that the server lists is registered again, once per call.
    async fn validate_registered(
        &mut self,
        target: RegisteredTool,
        subject: Subject,
        options: &Options,
    ) -> Result<Verdict, Failure> {
        let Validator {
            settings,
            registrar,
        } = self.validator;
        let client = &settings.client;
        let registered = registrar.register(settings, &self.session).await?;
        self.expect_accepted(registered.rejection(&self.tool))?;
        let result = client
            .validate_subject(target.clone().into(), subject.clone(), options)
            .await;
        let error = match result {
            Err(error) if is_unknown_tool(&error) && !self.is_renewed => error,
            result => return Ok(result?),
        };
        self.is_renewed = true;
        let renewed = registrar
            .register_again(settings, &self.session, &self.tool, &registered)
            .await?;
        let Some(renewed) = renewed else {
            return Err(error.into());
        };
        self.expect_accepted(renewed.rejection(&self.tool))?;
        Ok(client
            .validate_subject(target.into(), subject, options)
            .await?)
    }

    fn expect_accepted(&self, rejection: Option<&str>) -> Result<(), ErrorData> {
        let tool = &self.tool;
        let reject = |reason| {
            let text = format!("Sidecheck rejected the definition of tool {tool:?}: {reason}");
            Err(internal_error(text))
        };
        rejection.map_or(Ok(()), reject)
    }
}

fn is_unknown_tool(error: &Error) -> bool {
    matches!(error.reason(), error_reasons::UNKNOWN_TOOL | "NOT_FOUND")
}

/// Whether the client's policy made the verdict, because no server answered.
fn is_stand_in(verdict: &Verdict) -> bool {
    let mut violations = verdict.violations.iter();
    violations.any(|violation| violation.code == "SIDECHECK_UNAVAILABLE")
}

/// Returns the complete params, as the client sent them: the SDK keeps `_meta` apart.
fn encode_params(
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Json, ErrorData> {
    let mut params = params.clone();
    if params.meta.is_none() && !context.meta.0.0.is_empty() {
        params.meta = Some(context.meta.clone());
    }
    encode(&params)
}

fn encode(value: &impl serde::Serialize) -> Result<Json, ErrorData> {
    Json::encode(value).map_err(|_| internal_error("the call or its result is not JSON"))
}

/// Returns what replaces an invalid call or result.
fn replacement(verdict: &Verdict) -> Result<CallToolResponse, ErrorData> {
    if !verdict.call_tool_result.is_empty() {
        let result = verdict.call_tool_result.decode::<CallToolResult>();
        let mut result = result.map_err(|_| undecodable())?;
        // The SDK removes it for older protocol versions, which do not have it.
        result.result_type.get_or_insert(ResultType::COMPLETE);
        return Ok(result.into());
    }
    if !verdict.json_rpc_error.is_empty() {
        return Err(verdict.json_rpc_error.decode().map_err(|_| undecodable())?);
    }
    let text = ContentBlock::text(verdict.tool_error_text.clone());
    Ok(CallToolResult::error(vec![text]).into())
}
