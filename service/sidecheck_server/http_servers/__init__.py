"""HTTP servers with bounds, on sockets of their own."""
