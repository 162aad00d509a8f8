"""Tool definitions: entries of a ``tools/list`` answer."""

from dataclasses import dataclass

import msgspec

from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document, JsonValue, Violation

__all__ = [
    "ToolDefinition",
    "decoded_tool",
    "find_tool",
    "name_of",
    "read_tool",
    "refuse_too_large_tool",
    "told_name",
]

_CLAUSE = "MCP, server/tools: Tool"
_NESTING_ABOVE_SCHEMA = 8
"""How much deeper than a schema a definition may nest: `_meta` and icons do."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool definition that was read: it has a name and schemas, unchecked as yet."""

    name: str
    #: Its text, untouched: the order of properties matters to models.
    json: bytes
    digest: str
    input: SchemaSource
    input_digest: str
    output: SchemaSource | None
    output_digest: str | None


def read_tool(text: bytes, documents: tuple[Document, ...], limits: Limits) -> ToolDefinition:
    """Return the tool definition whose JSON *text* is given, with its schemas apart.

    Raises:
        Refusal: INVALID_TOOL, with a problem for each fault, or LIMIT_EXCEEDED.
    """
    try:
        tool = decoded_tool(text, limits)
    except MalformedError as error:
        raise _invalid(error.violations) from None
    faults = tuple(_faults(tool))
    if faults or not isinstance(tool, dict):
        raise _invalid(faults)
    output = tool.get("outputSchema")
    return ToolDefinition(
        name=str(tool["name"]),
        json=text,
        digest=digest_of(tool, documents),
        input=_source(tool["inputSchema"], documents),
        input_digest=digest_of(tool["inputSchema"], documents),
        output=None if output is None else _source(output, documents),
        output_digest=None if output is None else digest_of(output, documents),
    )


def decoded_tool(text: bytes, limits: Limits) -> JsonValue:
    """Return the value of *text*, a tool definition.

    Raises:
        MalformedError: it is not JSON.
        Refusal: LIMIT_EXCEEDED.
    """
    refuse_too_large_tool(text, limits)
    depth = limits.schema_depth + _NESTING_ABOVE_SCHEMA
    return decode(text, max_depth=depth, depth_bound="schema_depth")


def refuse_too_large_tool(text: bytes, limits: Limits) -> None:
    """Check the length of *text*, a tool definition: it may be twice that of a schema.

    Raises:
        Refusal: LIMIT_EXCEEDED.
    """
    if len(text) > 2 * limits.schema_bytes:
        raise exceeded("schema_bytes", 2 * limits.schema_bytes, "the tool definition", len(text))


def find_tool(text: bytes, name: str, limits: Limits) -> bytes:
    """Return the JSON text of the tool *name* out of several.

    *text* is one tool definition, a list of them, or a ``tools/list`` result, bare
    or in its JSON-RPC response.

    Raises:
        Refusal: INVALID_TOOL if *text* is none of these; UNKNOWN_TOOL if no tool in it
            has that name; LIMIT_EXCEEDED if it nests too deep.
    """
    depth = limits.schema_depth + 2 * _NESTING_ABOVE_SCHEMA
    try:
        value = decode(text, max_depth=depth, depth_bound="schema_depth")
    except MalformedError as error:
        raise _invalid(error.violations) from None
    tools = _listed(value)
    found = next((tool for tool in tools if name_of(tool) == name), None)
    if found is None:
        near = nearest(name, [name_of(tool) for tool in tools])
        raise RequestError(
            ErrorReason.UNKNOWN_TOOL,
            f"no tool {name[:128]!r} is in the file" + (f"; is it {near!r}?" if near else ""),
            {"tool": name[:128]},
        )
    return msgspec.json.encode(found)


def _listed(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict) and "inputSchema" not in value:
        result = value.get("result", value)
        value = result.get("tools", value) if isinstance(result, dict) else value
    return value if isinstance(value, list) else [value]


def name_of(tool: JsonValue) -> str:
    """Return the name of *tool*, or "" if it has none."""
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


def told_name(text: bytes, limits: Limits) -> str:
    """Return the name that *text* tells of a tool, or "" if it tells none or cannot be read."""
    try:
        return name_of(decoded_tool(text, limits))
    except (MalformedError, RequestError):
        return ""


def _source(schema: JsonValue, documents: tuple[Document, ...]) -> SchemaSource:
    return SchemaSource(msgspec.json.encode(schema), documents)


def _faults(tool: JsonValue) -> list[Violation]:
    if not isinstance(tool, dict):
        return [_fault("", "TOOL_NOT_AN_OBJECT", "a tool definition is a JSON object")]
    faults = []
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        faults.append(_fault("/name", "TOOL_NAME_MISSING", "a tool needs a name, a string"))
    if "inputSchema" not in tool:
        faults.append(_fault("", "INPUT_SCHEMA_MISSING", "a tool needs an inputSchema"))
    for key in ("inputSchema", "outputSchema"):
        if key in tool and not isinstance(tool[key], dict):
            code = (
                "INPUT_SCHEMA_NOT_AN_OBJECT"
                if key == "inputSchema"
                else "OUTPUT_SCHEMA_NOT_AN_OBJECT"
            )
            faults.append(_fault(f"/{key}", code, f"{key} must be a JSON object"))
    return faults


def _fault(pointer: str, code: str, message: str) -> Violation:
    return Violation(pointer, "", "", code, message, clause=_CLAUSE)


def _invalid(faults: tuple[Violation, ...]) -> RequestError:
    first = faults[0]
    at = f" (at {first.instance_location})" if first.instance_location else ""
    return RequestError(
        ErrorReason.INVALID_TOOL,
        f"the tool definition is not usable: {first.message}{at}",
        {"code": first.code, "pointer": first.instance_location},
        faults,
    )
