"""JSON-RPC messages: envelopes, checks of their contents, and error responses."""
