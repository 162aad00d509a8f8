"""Encoders of options into messages, generated from the .proto files."""
