"""Settings of the server, their ranges, and the policies of the proxy and the gateways."""
