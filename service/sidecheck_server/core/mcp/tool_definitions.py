"""Reads tool definitions: entries of a ``tools/list`` result, also as serializers write them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from sys import getrecursionlimit

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.json_values import digests_of_properties
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.definition_forms import protocol_form
from sidecheck_server.core.mcp.rules.rule import type_clause
from sidecheck_server.core.payload import MalformedError, decode, encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, JsonValue, Violation

__all__ = [
    "ToolDefinition",
    "ToolIdentity",
    "check_tool_size",
    "decode_tool",
    "duplicate_names",
    "error_as_violations",
    "find_tool",
    "identify_tool",
    "read_tool",
    "read_tool_name",
    "tool_name",
]

_SCHEMAS = ("inputSchema", "outputSchema")

_SPEC_URL = type_clause("Tool").url(DEFAULT_VERSION)
_NESTING_ABOVE_SCHEMA = 8
"""Levels that a definition may have above its schemas: `_meta` and icons nest."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool definition with a name and schemas, which are not checked yet."""

    #: It may be empty.
    name: str
    #: Original text; models see the order of its properties. If it did not have the form of
    #: the protocol (`protocol_form`), the text of that form.
    json: bytes
    digest: str
    input: SchemaSource
    input_digest: str
    output: SchemaSource | None
    output_digest: str | None


@dataclass(frozen=True, slots=True)
class ToolIdentity:
    """What a definition is known by."""

    name: str
    digest: str
    input_digest: str
    output_digest: str | None


def read_tool(text: bytes, documents: tuple[Document, ...], limits: Limits) -> ToolDefinition:
    """Return the tool definition of the JSON *text*, with its schemas separated.

    Nulls and snake-case names are read as in `protocol_form`.

    Raises:
        RequestError: INVALID_TOOL, with a violation for each fault, or LIMIT_EXCEEDED.
    """
    try:
        tool = decode_tool(text, limits)
    except MalformedError as error:
        raise _invalid(error.violations) from None
    form = protocol_form(tool, lenient=True).value
    if form is not tool:
        text, tool = encode_json(form), form
    faults = tuple(_faults(tool))
    if faults or not isinstance(tool, dict):
        raise _invalid(faults)
    identity = _identity(tool, documents)
    return ToolDefinition(
        name=identity.name,
        json=text,
        digest=identity.digest,
        input=_source(tool["inputSchema"], documents),
        input_digest=identity.input_digest,
        output=_source(tool["outputSchema"], documents) if "outputSchema" in tool else None,
        output_digest=identity.output_digest,
    )


def identify_tool(text: bytes, documents: tuple[Document, ...]) -> ToolIdentity | None:
    """Return the identity of the definition *text*, which `read_tool` returned once.

    The limits may have been others then, so none applies but the depth of recursion.
    Returns None if `read_tool` cannot have returned *text*.
    """
    try:
        tool = decode(text, max_depth=getrecursionlimit())
        if not isinstance(tool, dict) or any(_faults(tool)):
            return None
        return _identity(tool, documents)
    except (MalformedError, RequestError, RecursionError):
        return None


def _identity(tool: dict[str, JsonValue], documents: tuple[Document, ...]) -> ToolIdentity:
    digest, schemas = digests_of_properties(tool, _SCHEMAS, documents)
    return ToolIdentity(
        str(tool["name"]), digest, schemas["inputSchema"], schemas.get("outputSchema")
    )


def decode_tool(text: bytes, limits: Limits) -> JsonValue:
    """Return the decoded tool definition *text*.

    Raises:
        MalformedError: it is not JSON.
        RequestError: LIMIT_EXCEEDED.
    """
    check_tool_size(text, limits)
    depth = limits.schema_depth + _NESTING_ABOVE_SCHEMA
    return decode(text, max_depth=depth, depth_bound="schema_depth")


def check_tool_size(text: bytes, limits: Limits) -> None:
    """Check that the tool definition *text* is at most twice as long as a schema may be.

    Raises:
        RequestError: LIMIT_EXCEEDED.
    """
    if len(text) > 2 * limits.schema_bytes:
        raise limit_exceeded_error(
            "schema_bytes", 2 * limits.schema_bytes, "the tool definition", len(text)
        )


def find_tool(text: bytes, name: str, limits: Limits) -> bytes:
    """Return the JSON text of the tool *name* in *text*.

    *text* is one tool definition, a list of them, or a ``tools/list`` result, on its own or
    in its JSON-RPC response.

    Raises:
        RequestError: INVALID_TOOL if *text* is none of these; UNKNOWN_TOOL if it has no such
            tool; LIMIT_EXCEEDED if it nests too deep.
    """
    depth = limits.schema_depth + 2 * _NESTING_ABOVE_SCHEMA
    try:
        value = decode(text, max_depth=depth, depth_bound="schema_depth")
    except MalformedError as error:
        raise _invalid(error.violations) from None
    tools = _tools_of(value)
    tool = next((tool for tool in tools if tool_name(tool) == name), None)
    if tool is None:
        near = find_nearest(name, [tool_name(tool) for tool in tools])
        raise RequestError(
            ErrorReason.UNKNOWN_TOOL,
            f"no tool {name[:128]!r} in the file" + (f"; did you mean {near!r}?" if near else ""),
            {"tool": name[:128]},
        )
    return encode_json(tool)


def _tools_of(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict) and "inputSchema" not in value:
        result = value.get("result", value)
        value = result.get("tools", value) if isinstance(result, dict) else value
    return value if isinstance(value, list) else [value]


def tool_name(tool: JsonValue) -> str:
    """Return the name of *tool*, or "" if it has none."""
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


def read_tool_name(text: bytes, limits: Limits) -> str:
    """Return the name in the tool definition *text*, or "" if it has none or is malformed."""
    try:
        return tool_name(decode_tool(text, limits))
    except (MalformedError, RequestError):
        return ""


def _source(schema: JsonValue, documents: tuple[Document, ...]) -> SchemaSource:
    return SchemaSource(encode_json(schema), documents)


def _faults(tool: JsonValue) -> list[Violation]:
    """Return what keeps *tool* from being read, as the check of definitions reports it."""
    if not isinstance(tool, dict):
        return [_type_fault("", "an object", tool)]
    faults = [
        _fault("", "required", f'"{name}" is required and missing; expected {kind}')
        for name, kind in _REQUIRED.items()
        if name not in tool
    ]
    if not isinstance(tool.get("name", ""), str):
        faults.append(_type_fault("/name", "a string", tool["name"]))
    faults += [
        _type_fault(f"/{name}", "an object", tool[name])
        for name in _SCHEMAS
        if not isinstance(tool.get(name, {}), dict)
    ]
    return faults


_REQUIRED = {"inputSchema": 'an object whose "type" is "object"', "name": "a string"}
"""Required properties, with what they are expected to be."""


def _type_fault(location: str, expected: str, value: JsonValue) -> Violation:
    found = Values(hidden=False).describe(value)
    return _fault(location, "type", f"expected {expected}, found {found}")


def _fault(location: str, keyword: str, message: str) -> Violation:
    return Violation(location, "", keyword, keyword.upper(), message, spec_url=_SPEC_URL)


def _invalid(faults: tuple[Violation, ...]) -> RequestError:
    first = faults[0]
    at = f" (at {first.instance_location})" if first.instance_location else ""
    return RequestError(
        ErrorReason.INVALID_TOOL,
        f"invalid tool definition: {first.message}{at}",
        {"code": first.code, "pointer": first.instance_location},
        faults,
    )


def error_as_violations(error: RequestError, location: str) -> tuple[Violation, ...]:
    """Return *error*, about the part of a definition at *location*, as violations."""
    if not error.violations:
        return (Violation(location, "", "", error.reason.value, error.message),)
    return tuple(
        replace(violation, instance_location=location + violation.instance_location)
        for violation in error.violations
    )


def duplicate_names(names: Iterable[str]) -> frozenset[str]:
    """Return those of *names* that occur more than once; "" stands for no name."""
    counts = Counter(name for name in names if name)
    return frozenset(name for name, count in counts.items() if count > 1)
