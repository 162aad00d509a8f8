"""Reads files of tool definitions."""

import click

from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.rows import escape
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool_name
from sidecheck_server.core.mcp.tool_outcomes import ListedTool, ToolsList, read_tools_list
from sidecheck_server.core.types import Violation

__all__ = ["list_named_or_exit", "list_or_exit", "list_tools_or_findings"]


class _UnusableError(click.ClickException):
    """A file does not list tools."""

    exit_code = 2


def list_tools_or_findings(source: Source, limits: Limits) -> ToolsList | list[Finding]:
    """Return the tools in *source*, or its violations if it is not a list of tools."""
    # Decision 0044: people write these files, so definitions are read leniently.
    try:
        return read_tools_list(source.text, limits)
    except RequestError as error:
        violations = error.violations or (Violation("", "", "", error.reason.value, error.message),)
        return find_violations(source, violations)


def list_or_exit(name: str, text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tools in *text*, the content of the file *name*.

    Raises:
        click.ClickException: the text is not a list of tools; exit code 2.
    """
    result = list_tools_or_findings(Source(name, text), limits)
    if isinstance(result, ToolsList):
        return result.tools
    place, violation = result[0].place, result[0].violation
    message = f"{name}:{place.line}:{place.column}: {violation.code}: {violation.message}"
    raise _UnusableError(escape(message))


def list_named_or_exit(name: str, text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tools in *text*, the content of *name*; some must have a name.

    An empty list of tools is accepted.

    Raises:
        click.ClickException: the text is not a list of tools, or no tool has a name; exit code 2.
    """
    tools = list_or_exit(name, text, limits)
    if tools and not any(read_tool_name(tool.json, limits) for tool in tools):
        message = "nothing in it is a tool definition with a name"
        raise _UnusableError(escape(f"{name}: {message}"))
    return tools
