"use strict";
/** An MCP server over stdio whose calls and results go through Sidecheck. */
Object.defineProperty(exports, "__esModule", { value: true });
const index_js_1 = require("@modelcontextprotocol/sdk/server/index.js");
const stdio_js_1 = require("@modelcontextprotocol/sdk/server/stdio.js");
const types_js_1 = require("@modelcontextprotocol/sdk/types.js");
const mcp_1 = require("sidecheck/mcp");
const GET_FORECAST = {
    name: "get_forecast",
    title: "Forecast",
    description: "Forecast for a city",
    inputSchema: {
        type: "object",
        properties: {
            city: { type: "string", minLength: 1 },
            days: { type: "integer", minimum: 1, maximum: 7 },
        },
        required: ["city"],
        additionalProperties: false,
    },
    outputSchema: {
        type: "object",
        properties: {
            city: { type: "string" },
            days: {
                type: "array",
                items: {
                    type: "object",
                    properties: { day: { type: "integer" }, celsius: { type: "number" } },
                    required: ["day", "celsius"],
                },
            },
        },
        required: ["city", "days"],
    },
};
const server = (0, mcp_1.withSidecheck)(new index_js_1.Server({ name: "weather", version: "1.0.0" }, { capabilities: { tools: {} } }), { client: process.env["SIDECHECK_ADDRESS"] ?? "127.0.0.1:50151", name: "weather" });
server.setRequestHandler(types_js_1.ListToolsRequestSchema, () => ({ tools: [GET_FORECAST] }));
server.setRequestHandler(types_js_1.CallToolRequestSchema, ({ params }) => {
    // Sidecheck has validated the arguments.
    const { city, days = 1 } = params.arguments;
    const forecast = {
        city,
        days: Array.from({ length: days }, (_, index) => ({
            day: index + 1,
            // Breaks the output schema for one city, which Sidecheck stops.
            celsius: city === "Atlantis" ? "wet" : 11 + index,
        })),
    };
    return {
        content: [{ type: "text", text: JSON.stringify(forecast) }],
        structuredContent: forecast,
    };
});
void server.connect(new stdio_js_1.StdioServerTransport());
