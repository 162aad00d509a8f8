//! An MCP server over memory, and sessions with it.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{ClientLifecycleMode, RequestContext, RunningService};
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use sidecheck::mcp::Validated;

/// A server whose tools return their arguments; each page of its list has one tool.
#[derive(Clone)]
pub struct Echo {
    pub tools: Arc<Mutex<Vec<Tool>>>,
}

impl Echo {
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        let tools = Arc::new(Mutex::new(tools.into_iter().collect()));
        Self { tools }
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = params.and_then(|params| params.cursor);
        let index: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let tools = self.tools.lock().unwrap();
        let mut page = ListToolsResult::with_all_items(vec![tools[index].clone()]);
        page.next_cursor = (index + 1 < tools.len()).then(|| (index + 1).to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut arguments = params.arguments.unwrap_or_default();
        let content = arguments
            .remove("content")
            .unwrap_or(Value::Object(arguments));
        Ok(CallToolResult::structured(content).into())
    }
}

pub fn tool(definition: Value) -> Tool {
    serde_json::from_value(definition).unwrap()
}

pub fn repeat() -> Tool {
    tool(json!({
        "name": "repeat",
        "inputSchema": {
            "type": "object",
            "properties": {"count": {"type": "integer"}},
            "required": ["count"],
        },
        "outputSchema": {"type": "object", "properties": {"count": {"maximum": 9}}},
    }))
}

pub fn broken() -> Tool {
    tool(json!({
        "name": "broken",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "any"}}},
    }))
}

pub type Session = RunningService<RoleClient, ()>;

/// A session that negotiated the latest version with `initialize`.
pub async fn connect<H: ServerHandler>(server: Validated<H>) -> Session {
    connect_with(server, ClientLifecycleMode::Initialize).await
}

pub async fn connect_with<H: ServerHandler>(
    server: Validated<H>,
    lifecycle: ClientLifecycleMode,
) -> Session {
    let (near, far) = tokio::io::duplex(4096);
    tokio::spawn(async move { server.serve(far).await.unwrap().waiting().await.unwrap() });
    rmcp::serve_client_with_lifecycle((), near, lifecycle)
        .await
        .unwrap()
}
