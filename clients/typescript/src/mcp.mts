export * from "./mcp.js";
