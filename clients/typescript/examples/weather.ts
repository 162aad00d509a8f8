/** An MCP server over stdio whose calls and results go through Sidecheck. */

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { withSidecheck } from "sidecheck/mcp";

const GET_FORECAST = {
  name: "get_forecast",
  title: "Forecast",
  description: "Forecast for a city",
  inputSchema: {
    type: "object" as const,
    properties: {
      city: { type: "string", minLength: 1 },
      days: { type: "integer", minimum: 1, maximum: 7 },
    },
    required: ["city"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object" as const,
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

const server = withSidecheck(
  new Server({ name: "weather", version: "1.0.0" }, { capabilities: { tools: {} } }),
  { client: process.env["SIDECHECK_ADDRESS"] ?? "127.0.0.1:50151", name: "weather" },
);

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [GET_FORECAST] }));

server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  // Sidecheck has validated the arguments.
  const { city, days = 1 } = params.arguments as { city: string; days?: number };
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

void server.connect(new StdioServerTransport());
