"""The demo: Sidecheck between a model and two published MCP servers.

`python clients/python/demo` starts the service, lists the tools of the servers over
stdio, registers them, validates calls, and makes the valid ones. It checks its own outcome.
"""

__all__: list[str] = []
