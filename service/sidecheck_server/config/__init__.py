"""Settings of the server with their ranges, and policies of proxy and gateways."""
