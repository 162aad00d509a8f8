package sidecheck

// ProtocolClient checks names, definitions and messages against the rules of MCP:
// Client.Protocol.
type ProtocolClient struct{ connection *connection }
