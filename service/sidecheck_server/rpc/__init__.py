"""gRPC transport: handlers, statuses, streams, and the server that serves them."""
