"""Generated from proto/agentgateway and proto/envoy: the messages of their interfaces."""
