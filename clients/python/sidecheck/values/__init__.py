"""Values of the API, generated from its .proto files."""
