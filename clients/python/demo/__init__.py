"""The demo: Sidecheck between a model and two published MCP servers.

`python clients/python/demo` starts the service, asks the servers for their tools over
stdio, registers these, has calls judged, and makes the valid ones. It checks itself.
"""

__all__: list[str] = []
