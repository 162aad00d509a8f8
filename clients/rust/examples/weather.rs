//! An MCP server over stdio whose tool calls are validated by Sidecheck at SIDECHECK_ADDRESS, by
//! default 127.0.0.1:50151.

use std::error::Error;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, service::RequestContext, transport};
use serde_json::{Value, json};
use sidecheck::{Client, ClientOptions, mcp::Validated};

struct Weather {
    get_forecast: Tool,
}

impl ServerHandler for Weather {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![
            self.get_forecast.clone(),
        ]))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::from(params.arguments.unwrap_or_default());
        let city = &arguments["city"];
        let days = (1..=arguments["days"].as_u64().unwrap_or(1)).map(|day| {
            // Breaks the output schema for one city, which Sidecheck stops.
            let celsius = if city == "Atlantis" {
                json!("wet")
            } else {
                json!(10 + day)
            };
            json!({"day": day, "celsius": celsius})
        });
        let days: Vec<_> = days.collect();
        Ok(CallToolResult::structured(json!({"city": city, "days": days})).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let get_forecast = serde_json::from_value(json!({
        "name": "get_forecast",
        "title": "Forecast",
        "description": "Forecast for a city",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 1},
                "days": {"type": "integer", "minimum": 1, "maximum": 7}
            },
            "required": ["city"],
            "additionalProperties": false
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"day": {"type": "integer"}, "celsius": {"type": "number"}},
                    "required": ["day", "celsius"]
                }}
            },
            "required": ["city", "days"]
        }
    }))?;
    let address = std::env::var("SIDECHECK_ADDRESS").unwrap_or("127.0.0.1:50151".to_owned());
    let client = Client::new(&address, ClientOptions::default())?;
    let server = Validated::new(Weather { get_forecast }, client, "weather");
    server.serve(transport::stdio()).await?.waiting().await?;
    Ok(())
}
