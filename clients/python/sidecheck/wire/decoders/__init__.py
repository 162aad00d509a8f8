"""Decoders of responses into values, generated from the .proto files."""
