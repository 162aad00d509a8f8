//! A server of the official Rust SDK: over stdio, or on the port that is given.

use std::error::Error;

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourcesResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig,
};
use rmcp::schemars::JsonSchema;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router,
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Request {
    /// Name of the city
    city: String,
    days: Option<u8>,
}

#[derive(Serialize, JsonSchema)]
struct Forecast {
    city: String,
    celsius: Vec<i32>,
}

#[derive(Clone)]
struct Weather;

#[tool_router]
impl Weather {
    /// Forecast for a city
    #[tool]
    async fn get_forecast(
        &self,
        Parameters(Request { city, days }): Parameters<Request>,
    ) -> Result<Json<Forecast>, String> {
        if city == "Atlantis" {
            return Err("Atlantis is lost".to_owned());
        }
        let celsius = (0..days.unwrap_or(1))
            .map(|day| 10 + i32::from(day))
            .collect();
        Ok(Json(Forecast { city, celsius }))
    }
}

#[tool_handler]
impl ServerHandler for Weather {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities).with_instructions("Ask by city.")
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cities = Resource::new("weather://cities", "cities").with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![cities]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = ResourceContents::text("Oslo\nÅrhus", request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let city = PromptArgument::new("city").with_required(true);
        let ask = Prompt::new(
            "ask",
            Some("Ask for the weather in a city"),
            Some(vec![city]),
        );
        Ok(ListPromptsResult::with_all_items(vec![ask]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let city = arguments
            .get("city")
            .and_then(|city| city.as_str())
            .unwrap_or_default();
        let text = format!("How is the weather in {city}?");
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(port) = std::env::args().nth(1) else {
        Weather.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let service = StreamableHttpService::new(
        || Ok(Weather),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, router).await?;
    Ok(())
}
