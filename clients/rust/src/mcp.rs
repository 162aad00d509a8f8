//! Validation of MCP servers of the official SDK, `rmcp`.
//!
//! ```no_run
//! # use rmcp::{ServerHandler, ServiceExt, transport::stdio};
//! # async fn serve<H: ServerHandler>(handler: H) -> Result<(), Box<dyn std::error::Error>> {
//! use sidecheck::{Client, ClientOptions, mcp::Validated};
//!
//! let client = Client::new("127.0.0.1:50151", ClientOptions::default())?;
//! let server = Validated::new(handler, client, "weather");
//! server.serve(stdio()).await?.waiting().await?;
//! # Ok(())
//! # }
//! ```

// Methods of older protocol versions are passed on as well.
#![allow(deprecated)]

mod calls;
mod failure;
mod registrar;
mod settings;

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::client::Client;
use crate::error::Error;
use crate::validation::{OnUnknownTool, Options};
use crate::values::verdict::Verdict;
use calls::Validator;
use settings::Settings;

/// An MCP server whose tool calls are validated: an invalid call does not reach the handler, and
/// an invalid result does not reach the client of the server.
///
/// The tools are registered from the handler's own `tools/list` at the first call, and again
/// when they have changed or Sidecheck has lost them. So Sidecheck need not be up before. Where
/// it is not available, [`ClientOptions::on_unavailable`](crate::ClientOptions::on_unavailable)
/// decides: the call fails with the JSON-RPC error -32603, passes, or gets a result with
/// `isError`. Results of tasks are not validated.
///
/// Clones share the registration: give each session one, and not a wrapper of its own.
#[derive(Clone)]
pub struct Validated<H> {
    handler: H,
    validator: Validator,
}

impl<H> Validated<H> {
    /// Validates the calls of `handler` with `client`. Its tools are registered under `server`:
    /// a name of this server alone, of 1 to 256 characters.
    pub fn new(handler: H, client: Client, server: impl Into<String>) -> Self {
        Self {
            handler,
            validator: Validator::new(Settings::new(client, server.into())),
        }
    }

    /// Sets the options of the validations. With repairs, the handler gets the repaired
    /// arguments. Without a protocol version, that of the session applies.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        // Every tool of the server is registered, so an unknown one is an error.
        self.validator.settings.options = Options {
            on_unknown_tool: OnUnknownTool::Error,
            ..options
        };
        self
    }

    /// Sets what takes the errors that kept a call from being validated, and those for rejected
    /// tools. Otherwise their reasons are logged by `tracing`.
    #[must_use]
    pub fn on_error(mut self, callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.validator.settings.on_error = Arc::new(callback);
        self
    }

    /// Sets what takes the name of a tool and a verdict that does not decide: one that is
    /// invalid and not enforced, or that stands in for a server that did not answer. Otherwise
    /// the codes of its violations are logged by `tracing`; their messages may have values of
    /// the payload.
    #[must_use]
    pub fn on_report(mut self, callback: impl Fn(&str, &Verdict) + Send + Sync + 'static) -> Self {
        self.validator.settings.on_report = Arc::new(callback);
        self
    }
}

/// Passes requests on to the handler.
macro_rules! delegate {
    ($($method:ident($params:ty) -> $result:ty;)*) => {$(
        async fn $method(
            &self,
            params: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            self.handler.$method(params, context).await
        }
    )*};
}

/// Passes notifications on to the handler.
macro_rules! delegate_notifications {
    ($($method:ident($params:ty);)*) => {$(
        async fn $method(&self, params: $params, context: NotificationContext<RoleServer>) {
            self.handler.$method(params, context).await;
        }
    )*};
}

impl<H: ServerHandler> ServerHandler for Validated<H> {
    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.validator.call(&self.handler, params, context).await
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let version = context.protocol_version();
        let page = self.handler.list_tools(params, context).await?;
        self.validator.observe(version.as_ref(), &page);
        Ok(page)
    }

    delegate! {
        initialize(InitializeRequestParams) -> InitializeResult;
        complete(CompleteRequestParams) -> CompleteResult;
        set_level(SetLevelRequestParams) -> ();
        get_prompt(GetPromptRequestParams) -> GetPromptResponse;
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse;
        subscribe(SubscribeRequestParams) -> ();
        unsubscribe(UnsubscribeRequestParams) -> ();
        on_custom_request(CustomRequest) -> CustomResult;
        get_task(GetTaskParams) -> GetTaskResult;
        update_task(UpdateTaskParams) -> ();
        cancel_task(CancelTaskParams) -> ();
        list_skills(Option<PaginatedRequestParams>) -> ListSkillsResult;
        get_skill(GetSkillRequestParams) -> GetSkillResult;
        read_resource_directory(ReadResourceDirectoryRequestParams) -> ReadResourceDirectoryResult;
    }

    delegate_notifications! {
        on_cancelled(CancelledNotificationParam);
        on_progress(ProgressNotificationParam);
        on_custom_notification(CustomNotification);
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.handler.ping(context).await
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.handler.discover(context).await
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.handler.listen(context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.handler.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.handler.on_roots_list_changed(context).await;
    }

    fn negotiate_initialize(
        &self,
        params: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        self.handler.negotiate_initialize(params)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.handler.supported_protocol_versions()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.handler.get_tool(name)
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }
}
