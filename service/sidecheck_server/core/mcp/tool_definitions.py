"""Reads tool definitions: entries of a ``tools/list`` result, or dumps of SDKs.

A dump of an SDK's object often has ``null`` for unset properties and, without aliases, the
snake-case names of the fields. Neither conforms to the protocol, whose optional properties may
be missing but not null. The readers drop such nulls and rename such properties.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from sys import getrecursionlimit
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import Values, join_phrase
from sidecheck_server.core.json_values import digests_of_properties
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, VERSIONS
from sidecheck_server.core.mcp.rules.rule import Fault, Path, Rule, type_clause
from sidecheck_server.core.mcp.rules.tools import (
    NULL_PROPERTY,
    NULL_PROPERTY_DROPPED,
    SNAKE_CASE_PROPERTY,
    SNAKE_CASE_PROPERTY_RENAMED,
)
from sidecheck_server.core.mcp.types.model import ListOf, ObjectType, Ref
from sidecheck_server.core.mcp.types.rendering import TYPES, properties_of
from sidecheck_server.core.payload import MalformedError, decode, encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, JsonValue, Violation, as_pointer

__all__ = [
    "ProtocolForm",
    "ToolDefinition",
    "ToolIdentity",
    "check_tool_size",
    "decode_tool",
    "duplicate_names",
    "error_as_violations",
    "find_tool",
    "identify_tool",
    "list_form",
    "protocol_form",
    "read_tool",
    "read_tool_name",
    "tool_name",
]

_MAX_SHOWN = 8
"""Number of properties that a message lists."""

_PARTS = frozenset({"ToolAnnotations", "ToolExecution", "Icon"})
"""Types of nested objects that are adapted too; schemas and ``_meta`` are data."""

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(slots=True)
class ProtocolForm:
    """A definition or list in the form of the protocol, with the differences.

    The differences are relative to the original value.
    """

    #: The value in the form of the protocol; the original object if it had that form.
    value: Any
    #: Paths of dropped properties, which were null.
    nulls: list[Path] = field(default_factory=list)
    #: Paths of properties with snake-case names, and the names of the protocol.
    renamed: list[tuple[Path, str]] = field(default_factory=list)

    def faults(self, *, lenient: bool) -> Iterator[tuple[Rule, Fault]]:
        """Yield one fault for all nulls, and one for all snake-case names.

        If *lenient*, they are warnings, since the definition is read in the form of the
        protocol.
        """
        if self.nulls:
            pointers = _join([as_pointer(path) for path in self.nulls])
            verb = "is null" if len(self.nulls) == 1 else "are null"
            rule = NULL_PROPERTY_DROPPED if lenient else NULL_PROPERTY
            treatment = "read as missing" if lenient else "an optional property may only be missing"
            yield (
                rule,
                Fault(
                    self.nulls[0],
                    f"{pointers} {verb}, {treatment}; leave out what is not set (pydantic: "
                    "exclude_none=True)",
                ),
            )
        if self.renamed:
            names = _join([f"{as_pointer(path)} for {name}" for path, name in self.renamed])
            rule = SNAKE_CASE_PROPERTY_RENAMED if lenient else SNAKE_CASE_PROPERTY
            treatment = "read by the protocol's names" if lenient else "not the protocol's names"
            message = f"{names}: {treatment}; serialize by alias (pydantic: by_alias=True)"
            yield rule, Fault(self.renamed[0][0], message)


def list_form(result: Any) -> ProtocolForm:
    """Return *result*, a dump of a ``tools/list`` result, in the form of the protocol.

    Its definitions are unchanged.
    """
    form = ProtocolForm(result)
    if isinstance(result, dict):
        adapted_result = _adapt_object(result, "ListToolsResult", (), form, renames=True)
        if form.nulls or form.renamed:
            form.value = adapted_result
    return form


# Decision 0044: submitted definitions are read leniently, listed ones are checked strictly.
def protocol_form(tool: Any, *, lenient: bool, version: str = "") -> ProtocolForm:
    """Return the definition *tool* in the form of the protocol.

    Nulls are dropped from the definition, its annotations, execution and icons if the property
    is optional in *version*, or in any version if *version* is "". A snake-case name is replaced
    by the protocol's name, unless the object has both. If not *lenient*, this is done only in a
    definition with ``input_schema`` and without ``inputSchema``; in other definitions, snake-case
    names are additional properties.
    """
    form = ProtocolForm(tool)
    if isinstance(tool, dict):
        is_dump = "input_schema" in tool and "inputSchema" not in tool
        renames = lenient or is_dump
        adapted_tool = _adapt_object(tool, "Tool", (), form, renames=renames, version=version)
        if form.nulls or form.renamed:
            form.value = adapted_tool
    return form


def _adapt_object(
    value: dict[str, Any],
    type_: str,
    path: Path,
    form: ProtocolForm,
    *,
    renames: bool,
    version: str = "",
) -> Any:
    """Return the adapted *value* of the type *type_*; add the differences to *form*."""
    fields = _list_fields(type_, version)
    result: dict[str, Any] = {}
    for key, item in value.items():
        name = fields.names.get(key, key) if renames else key
        # "meta" may be an additional property, unless the definition is a dump.
        if name != key and (name in value or (key == "meta" and "input_schema" not in value)):
            name = key
        item_path = (*path, key)
        if item is None and name in fields.optional:
            form.nulls.append(item_path)
            continue
        if name != key:
            form.renamed.append((item_path, name))
        part = fields.parts.get(name)
        if part is None:
            result[name] = item
        elif isinstance(item, list):
            result[name] = [
                _adapt_object(
                    entry, part, (*item_path, index), form, renames=renames, version=version
                )
                if isinstance(entry, dict)
                else entry
                for index, entry in enumerate(item)
            ]
        elif isinstance(item, dict):
            result[name] = _adapt_object(
                item, part, item_path, form, renames=renames, version=version
            )
        else:
            result[name] = item
    return result


@dataclass(frozen=True, slots=True)
class _Fields:
    """Properties of a type in all versions, since serializers ignore the version."""

    #: Optional properties of one version, or of all versions. In the first case the schema of
    #: the version applies, which accepts null in additional properties.
    optional: frozenset[str]
    #: Types of nested objects, by property.
    parts: Mapping[str, str]
    #: Names of the protocol, by snake-case name.
    names: Mapping[str, str]


@lru_cache(maxsize=64)  # exceeds the number of types times versions
def _list_fields(type_: str, optional_in: str) -> _Fields:
    object_type = TYPES[type_]
    assert isinstance(object_type, ObjectType)
    optional: set[str] = set()
    parts: dict[str, str] = {}
    names: dict[str, str] = {}
    for version in VERSIONS:
        for name, property_ in properties_of(TYPES, object_type, version).items():
            if not property_.required and optional_in in ("", version):
                optional.add(name)
            kind = property_.kind.item if isinstance(property_.kind, ListOf) else property_.kind
            if isinstance(kind, Ref) and kind.name in _PARTS:
                parts[name] = kind.name
            python_name = _WORD_START.sub("_", name).lower().lstrip("_")
            if python_name != name:
                names[python_name] = name
    return _Fields(frozenset(optional), parts, names)


def _join(items: list[str]) -> str:
    listed_items = items[:_MAX_SHOWN]
    rest_count = len(items) - len(listed_items)
    return join_phrase(
        [*listed_items, f"{rest_count:,} more"] if rest_count else listed_items, "and"
    )


_SCHEMAS = ("inputSchema", "outputSchema")

_SPEC_URL = type_clause("Tool").url(DEFAULT_VERSION)
_NESTING_ABOVE_SCHEMA = 8
"""Levels that a definition may have in addition to a schema's, for `_meta` and icons."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool definition, with its name and its unchecked schemas."""

    #: Name of the tool; it may be empty.
    name: str
    #: Original text, since models see the order of its properties. If `protocol_form` changed
    #: the definition, the text of that form.
    json: bytes
    digest: str
    input: SchemaSource
    input_digest: str
    output: SchemaSource | None
    output_digest: str | None


@dataclass(frozen=True, slots=True)
class ToolIdentity:
    """Name and digests of a definition."""

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
        raise _build_error(error.violations) from None
    form = protocol_form(tool, lenient=True).value
    if form is not tool:
        text, tool = encode_json(form), form
    faults = tuple(_find_faults(tool))
    if faults or not isinstance(tool, dict):
        raise _build_error(faults)
    identity = _build_identity(tool, documents)
    return ToolDefinition(
        name=identity.name,
        json=text,
        digest=identity.digest,
        input=_build_source(tool["inputSchema"], documents),
        input_digest=identity.input_digest,
        output=_build_source(tool["outputSchema"], documents) if "outputSchema" in tool else None,
        output_digest=identity.output_digest,
    )


def identify_tool(text: bytes, documents: tuple[Document, ...]) -> ToolIdentity | None:
    """Return the identity of *text*, a definition that `read_tool` returned.

    `read_tool` may have applied other limits, so only the recursion limit applies here.
    Returns None if `read_tool` cannot have returned *text*.
    """
    try:
        tool = decode(text, max_depth=getrecursionlimit())
        if not isinstance(tool, dict) or any(_find_faults(tool)):
            return None
        return _build_identity(tool, documents)
    except (MalformedError, RequestError, RecursionError):
        return None


def _build_identity(tool: dict[str, JsonValue], documents: tuple[Document, ...]) -> ToolIdentity:
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
    """Check that the definition *text* is at most twice as long as a schema may be.

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
        RequestError: INVALID_TOOL if *text* has another form; UNKNOWN_TOOL if it has no such
            tool; LIMIT_EXCEEDED if it nests too deep.
    """
    depth = limits.schema_depth + 2 * _NESTING_ABOVE_SCHEMA
    try:
        value = decode(text, max_depth=depth, depth_bound="schema_depth")
    except MalformedError as error:
        raise _build_error(error.violations) from None
    tools = _list_tools(value)
    tool = next((tool for tool in tools if tool_name(tool) == name), None)
    if tool is None:
        nearest = find_nearest(name, [tool_name(tool) for tool in tools])
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        raise RequestError(
            ErrorReason.UNKNOWN_TOOL,
            f"no tool {name[:128]!r} in the file{hint}",
            {"tool": name[:128]},
        )
    return encode_json(tool)


def _list_tools(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict) and "inputSchema" not in value:
        result = value.get("result", value)
        value = result.get("tools", value) if isinstance(result, dict) else value
    return value if isinstance(value, list) else [value]


def tool_name(tool: JsonValue) -> str:
    """Return the name of the decoded definition *tool*, or ""."""
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


def read_tool_name(text: bytes, limits: Limits) -> str:
    """Return the name in the definition *text*, or "" if it is missing or malformed."""
    try:
        return tool_name(decode_tool(text, limits))
    except (MalformedError, RequestError):
        return ""


def _build_source(schema: JsonValue, documents: tuple[Document, ...]) -> SchemaSource:
    return SchemaSource(encode_json(schema), documents)


def _find_faults(tool: JsonValue) -> list[Violation]:
    """Return the faults that make *tool* unreadable, as the check reports them."""
    if not isinstance(tool, dict):
        return [_build_type_fault("", "an object", tool)]
    faults = [
        _build_fault("", "required", f'"{name}" is required and missing; expected {kind}')
        for name, kind in _REQUIRED.items()
        if name not in tool
    ]
    if not isinstance(tool.get("name", ""), str):
        faults.append(_build_type_fault("/name", "a string", tool["name"]))
    faults += [
        _build_type_fault(f"/{name}", "an object", tool[name])
        for name in _SCHEMAS
        if not isinstance(tool.get(name, {}), dict)
    ]
    return faults


_REQUIRED = {"inputSchema": 'an object whose "type" is "object"', "name": "a string"}
"""Required properties, with descriptions of their expected values."""


def _build_type_fault(location: str, expected: str, value: JsonValue) -> Violation:
    description = Values(hidden=False).describe(value)
    return _build_fault(location, "type", f"expected {expected}, found {description}")


def _build_fault(location: str, keyword: str, message: str) -> Violation:
    return Violation(location, "", keyword, keyword.upper(), message, spec_url=_SPEC_URL)


def _build_error(faults: tuple[Violation, ...]) -> RequestError:
    first_fault = faults[0]
    location = f" (at {first_fault.instance_location})" if first_fault.instance_location else ""
    return RequestError(
        ErrorReason.INVALID_TOOL,
        f"invalid tool definition: {first_fault.message}{location}",
        {"code": first_fault.code, "pointer": first_fault.instance_location},
        faults,
    )


def error_as_violations(error: RequestError, location: str) -> tuple[Violation, ...]:
    """Return the *error* of a part of a definition, at *location*, as violations."""
    if not error.violations:
        return (Violation(location, "", "", error.reason.value, error.message),)
    return tuple(
        replace(violation, instance_location=location + violation.instance_location)
        for violation in error.violations
    )


def duplicate_names(names: Iterable[str]) -> frozenset[str]:
    """Return the *names* that occur more than once. "" is ignored."""
    counts = Counter(name for name in names if name)
    return frozenset(name for name, count in counts.items() if count > 1)
