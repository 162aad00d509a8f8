"""Relay over Streamable HTTP and HTTP+SSE, in front of the server at one URL."""
