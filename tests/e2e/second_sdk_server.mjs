// An MCP server of @modelcontextprotocol/server 2 whose calls and results go through Sidecheck. The
// first argument is `Server`, `McpServer` or `schemas`: how its handlers are set.
import { fromJsonSchema, McpServer, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Client } from "sidecheck";
import { withSidecheck } from "sidecheck/mcp";

const client = new Client(process.env.SIDECHECK_ADDRESS, { timeoutMs: 60_000 });
const [, , form] = process.argv;
const INPUT = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const OUTPUT = { type: "object", properties: { celsius: { type: "number" } } };
// Reads whatever it is given.
const any = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };

function forecast(city, params) {
  const structuredContent = { celsius: city === "Atlantis" ? "wet" : 11 };
  return { content: [{ type: "text", text: JSON.stringify(params) }], structuredContent };
}

function create() {
  const options = { client, name: `second SDK: ${form}`, options: { coercion: "safe-scalars" } };
  const info = { name: "weather", version: "1.0.0" };
  if (form === "McpServer") {
    const server = new McpServer(info);
    withSidecheck(server.server, options);
    const schemas = { inputSchema: fromJsonSchema(INPUT) };
    server.registerTool("get_forecast", schemas, (args) => forecast(args.city, args));
    return server;
  }
  const server = withSidecheck(new Server(info, { capabilities: { tools: {} } }), options);
  const tool = { name: "get_forecast", inputSchema: INPUT, outputSchema: OUTPUT };
  const call = (params) => forecast(params.arguments.city, params);
  if (form === "schemas") {
    server.setRequestHandler("tools/list", { params: any }, () => ({ tools: [tool] }));
    server.setRequestHandler("tools/call", { params: any }, call);
  } else {
    server.setRequestHandler("tools/list", () => ({ tools: [tool] }));
    server.setRequestHandler("tools/call", ({ params }) => call(params));
  }
  return server;
}

serveStdio(create);
