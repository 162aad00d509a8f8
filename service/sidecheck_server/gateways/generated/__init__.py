"""Generated from proto/agentgateway: the messages of its ExtMcp."""
