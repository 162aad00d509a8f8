"""What gateways call to have MCP traffic validated, by the protocols of the gateways."""
