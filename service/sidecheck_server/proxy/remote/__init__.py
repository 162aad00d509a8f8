"""Server over HTTP in place of the server process of the relay over stdio."""
