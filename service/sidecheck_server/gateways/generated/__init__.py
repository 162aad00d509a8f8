"""Protobuf messages generated from proto/agentgateway and proto/envoy."""
