"""Validation of the tool calls of an MCP server, of any kind of the common Python packages."""

import sys
from typing import Any, Final, TypeVar

from mcp.server.lowlevel import Server

from sidecheck.mcp.registrar import RegisteringValidator
from sidecheck.mcp.sdk import IS_SDK_1
from sidecheck.mcp.tool_calls import OnError, OnReport, ToolCallValidator
from sidecheck.validation import Options

__all__ = ["with_sidecheck"]

ServerT = TypeVar("ServerT")

#: Attributes of the other kinds of servers that hold their low-level server: of MCPServer of
#: mcp 2, and of FastMCP of mcp 1 and of fastmcp 2 and 3.
LOW_LEVEL_SERVERS: Final = ("_lowlevel_server", "_mcp_server")

KINDS: Final = (
    "an MCPServer or mcp.server.lowlevel.Server of mcp 2, a FastMCP or mcp.server.lowlevel.Server"
    " of mcp 1, or a FastMCP of fastmcp 2 to 4"
)


def with_sidecheck(
    server: ServerT,
    client: RegisteringValidator | str,
    *,
    name: str = "",
    options: Options | None = None,
    on_error: OnError | None = None,
    on_report: OnReport | None = None,
) -> ServerT:
    """Validate the tool calls of *server* and their results; return *server*.

    *server* is an ``MCPServer`` or low-level ``Server`` of version 2 of the official MCP SDK, a
    ``FastMCP`` or low-level ``Server`` of version 1, or a ``FastMCP`` of the package ``fastmcp``
    2 to 4. Wrap it after its handlers, extensions and middleware were added; tools may be added
    later.

    *client* may also be an address; that client then lives as long as the process. The tools
    are registered under *name*, by default the name of *server*, at the first call and after
    they have changed, so Sidecheck need not run before. An invalid call does not reach the
    handler, and an invalid result does not reach the client of *server*.

    With repairs in *options*, the handler gets the repaired arguments. The client's
    ``on_unavailable`` is the policy for calls that Sidecheck could not validate. *on_error* and
    *on_report* replace the log records of the logger ``sidecheck.mcp``.

    Raises:
        TypeError: *server* is of another kind.
        ValueError: *server* has no handler for ``tools/list`` or ``tools/call``.
    """
    if is_fastmcp(server) and not IS_SDK_1:
        # Imported late, because fastmcp is not a dependency of the other kinds.
        from sidecheck.mcp.fastmcp import SidecheckMiddleware  # noqa: PLC0415

        fastmcp_server: Any = server
        fastmcp_server.add_middleware(
            SidecheckMiddleware(
                client,
                name=name or fastmcp_server.name,
                options=options,
                on_error=on_error,
                on_report=on_report,
            )
        )
        return server
    low_level = find_low_level(server)
    validator = ToolCallValidator(client, name or low_level.name, options, on_error, on_report)
    # Imported late, because each has names of one version of the SDK only.
    if IS_SDK_1:
        from sidecheck.mcp.request_handlers import wrap_request_handlers  # noqa: PLC0415

        wrap_request_handlers(low_level, validator)
    else:
        from sidecheck.mcp.lowlevel import wrap_handlers  # noqa: PLC0415

        wrap_handlers(low_level, validator)
    return server


def find_low_level(server: object) -> Any:
    """Return the low-level server in *server*, or *server* itself.

    Raises:
        TypeError: *server* is of another kind.
    """
    candidates = [server, *(getattr(server, name, None) for name in LOW_LEVEL_SERVERS)]
    for candidate in candidates:
        if isinstance(candidate, Server):
            return candidate
    raise TypeError(f"expected {KINDS}; not {type(server).__name__}")


def is_fastmcp(server: object) -> bool:
    """Return whether *server* is a server of the package ``fastmcp``, without importing it."""
    package = sys.modules.get("fastmcp")
    return package is not None and isinstance(server, package.FastMCP)
