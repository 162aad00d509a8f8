"""Calls of tools: the ``params`` of ``tools/call``."""

from typing import Any

import msgspec

from sidecheck_server.core.explain.values import Values, quoted
from sidecheck_server.core.mcp.calls.members import member_text
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import Surfaces
from sidecheck_server.core.mcp.subjects import CallParams
from sidecheck_server.core.mcp.typed_values import check_value
from sidecheck_server.core.types import Violation

__all__ = ["ARGUMENTS", "NAME_MISMATCH", "called_tool", "check_call", "requested_version"]

ARGUMENTS = "arguments"
"""The member that is judged under the tool's input schema."""

NAME_MISMATCH = "TOOL_NAME_MISMATCH"
"""The code of the violation of params that call another tool than the caller said."""


class _Call(msgspec.Struct):
    name: str


class _Meta(msgspec.Struct):
    version: str = msgspec.field(name="io.modelcontextprotocol/protocolVersion")


class _Request(msgspec.Struct):
    meta: _Meta = msgspec.field(name="_meta")


_CALL = msgspec.json.Decoder(_Call)
_REQUEST = msgspec.json.Decoder(_Request)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def called_tool(params: bytes) -> str | None:
    """Return the name of the tool that *params*, a JSON text, call, or None if they name none.

    The caller has bounded the length.
    """
    try:
        return _CALL.decode(params).name
    except _UNREADABLE:
        return None


def requested_version(params: bytes) -> str | None:
    """Return the protocol version that *params*, a JSON text, ask for, or None if they ask none.

    The caller has bounded the length.
    """
    try:
        return _REQUEST.decode(params).meta.version
    except _UNREADABLE:
        return None


def check_call(
    subject: CallParams, value: Any, findings: Findings, surfaces: Surfaces
) -> bytes | None:
    """Add to *findings* what is wrong with *value*, the params of *subject*, but for the arguments.

    Returns the JSON text of the arguments, ``{}`` if there are none, or None if they are
    no object.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of a type is not there yet.
    """
    check_value(value, "CallToolRequestParams", findings, surfaces)
    if not isinstance(value, dict):
        return None
    name = value.get("name")
    if subject.tool and isinstance(name, str) and name != subject.tool:
        findings.add(_mismatch(name, subject.tool, hide_values=findings.context.hide_values))
    if ARGUMENTS not in value:
        return b"{}"
    return member_text(subject.params, ARGUMENTS) if isinstance(value[ARGUMENTS], dict) else None


def _mismatch(name: str, tool: str, *, hide_values: bool) -> Violation:
    found = Values(hidden=hide_values).plain(name)
    said = f"expected {quoted(tool)}, the tool that the call is judged under, found {found}"
    return Violation("/name", "", "", NAME_MISMATCH, said)
