"""Checks and reads the ``params`` of ``tools/call`` requests."""

from typing import Any

import msgspec

from sidecheck_server.core.explain.values import Values, quote
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, check_value
from sidecheck_server.core.mcp.subjects import CallParams
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.types import Violation

__all__ = [
    "ARGUMENTS",
    "called_tool_name",
    "check_call_params",
    "has_property_text",
    "property_text",
    "requested_version",
    "with_property",
]

ARGUMENTS = "arguments"
"""Property that is validated against the tool's input schema."""

_NAME_MISMATCH = "TOOL_NAME_MISMATCH"
"""Code of the violation of params that call a tool other than the expected one."""


class _Call(msgspec.Struct):
    name: str


class _Meta(msgspec.Struct):
    version: str = msgspec.field(name="io.modelcontextprotocol/protocolVersion")


class _Request(msgspec.Struct):
    meta: _Meta = msgspec.field(name="_meta")


_CALL = msgspec.json.Decoder(_Call)
_REQUEST = msgspec.json.Decoder(_Request)
_PROPERTIES = msgspec.json.Decoder(dict[str, msgspec.Raw])
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def called_tool_name(params: bytes) -> str | None:
    """Return the name of the tool that the JSON text *params* calls, or None.

    The caller must bound the length of *params*.
    """
    try:
        return _CALL.decode(params).name
    except _UNREADABLE:
        return None


def requested_version(params: bytes) -> str | None:
    """Return the protocol version in the ``_meta`` of the JSON text *params*, or None.

    The caller must bound the length of *params*.
    """
    try:
        return _REQUEST.decode(params).meta.version
    except _UNREADABLE:
        return None


def check_call_params(
    subject: CallParams, value: Any, findings: Findings, schemas: SchemaLookup
) -> bytes | None:
    """Check *value*, the decoded params of *subject*, except its arguments.

    Violations are added to *findings*. Returns the JSON text of the arguments, ``{}`` if they
    are missing, or None if they are not an object.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of a type is not compiled yet.
    """
    check_value(value, "CallToolRequestParams", findings, schemas)
    if not isinstance(value, dict):
        return None
    name = value.get("name")
    if subject.tool and isinstance(name, str) and name != subject.tool:
        findings.add(
            _build_name_mismatch(name, subject.tool, hide_values=findings.context.hide_values)
        )
    if ARGUMENTS not in value:
        return b"{}"
    return property_text(subject.params, ARGUMENTS) if isinstance(value[ARGUMENTS], dict) else None


def _build_name_mismatch(name: str, tool: str, *, hide_values: bool) -> Violation:
    shown_name = Values(hidden=hide_values).format(name)
    message = f"expected {quote(tool)}, the tool to validate against, found {shown_name}"
    return Violation("/name", "", "", _NAME_MISMATCH, message)


def has_property_text(text: bytes, name: str) -> bool:
    """Return whether the JSON text *text* is an object with the property *name*."""
    try:
        return name in _PROPERTIES.decode(text)
    except _UNREADABLE:
        return False


def property_text(text: bytes, name: str) -> bytes:
    """Return the JSON text of the existing property *name* of the JSON object *text*."""
    return bytes(_PROPERTIES.decode(text)[name])


def with_property(text: bytes, name: str, value: bytes) -> bytes:
    """Return the JSON object *text* with its property *name* set to the JSON *value*."""
    properties = _PROPERTIES.decode(text)
    return encode_json({**properties, name: msgspec.Raw(value)})
