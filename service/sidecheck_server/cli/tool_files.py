"""Files of tool definitions."""

import click

from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.rows import printable
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool_name
from sidecheck_server.core.mcp.tool_outcomes import ListedTool, ToolsList, read_tools_list
from sidecheck_server.core.types import Violation

__all__ = ["list_named_or_exit", "list_or_exit", "list_or_find"]


class _UnusableError(click.ClickException):
    """A file has no tools."""

    exit_code = 2


def list_or_find(source: Source, limits: Limits) -> ToolsList | list[Finding]:
    """Return the tools listed in *source*, or its violations if it lists none."""
    try:
        return read_tools_list(source.text, limits)
    except RequestError as error:
        violations = error.violations or (Violation("", "", "", error.reason.value, error.message),)
        return find_violations(source, violations)


def list_or_exit(name: str, text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tools listed in *text*, the content of the file *name*.

    Raises:
        click.ClickException: it lists none; exit code 2.
    """
    listed = list_or_find(Source(name, text), limits)
    if isinstance(listed, ToolsList):
        return listed.tools
    place, violation = listed[0].place, listed[0].violation
    message = f"{name}:{place.line}:{place.column}: {violation.code}: {violation.message}"
    raise _UnusableError(printable(message))


def list_named_or_exit(name: str, text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tools listed in *text*, of which one at least has a name, or none.

    Raises:
        click.ClickException: it lists none, or none has a name; exit code 2.
    """
    tools = list_or_exit(name, text, limits)
    if tools and not any(read_tool_name(tool.json, limits) for tool in tools):
        message = "nothing in it is a tool definition with a name"
        raise _UnusableError(printable(f"{name}: {message}"))
    return tools
