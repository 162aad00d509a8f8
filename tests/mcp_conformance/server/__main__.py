"""Serves over Streamable HTTP at a port of its choice, until it is terminated.

usage: python -m mcp_conformance.server

Prints the URL when it can be connected to.
"""

from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer

from mcp_conformance.server.client_requests import add_client_requests
from mcp_conformance.server.content import add_content_tools, add_notifying_tools, schema_tool
from mcp_conformance.server.events import MemoryEvents
from mcp_conformance.server.input_required import add_input_required
from mcp_conformance.server.offers import add_prompts, add_resources

_RETRY_MILLISECONDS = 500
"""After which clients shall resume a stream."""


def main() -> None:
    """Serve."""
    server: MCPServer[Any] = MCPServer("conformance", version="1", tools=[schema_tool()])
    for add in (
        add_content_tools,
        add_notifying_tools,
        add_client_requests,
        add_input_required,
        add_resources,
        add_prompts,
    ):
        add(server)
    application = server.streamable_http_app(
        event_store=MemoryEvents(), retry_interval=_RETRY_MILLISECONDS
    )
    config = uvicorn.Config(application, port=0, log_config=None, lifespan="on")
    config.load()
    listener = config.bind_socket()
    listener.listen(config.backlog)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
