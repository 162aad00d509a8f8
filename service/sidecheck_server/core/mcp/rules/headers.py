"""Rules on HTTP headers that mirror tool arguments (`x-mcp-header`)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from sidecheck_server.core.explain.values import Values, describe_kind, format_literal, join_phrase
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, Path, RuleSet
from sidecheck_server.core.mcp.rules.secrets import names_secret
from sidecheck_server.core.schemas.walker import contains_keyword, walk_schema
from sidecheck_server.core.types import Severity, as_pointer

_HEADER = "x-mcp-header"
"""Keyword that mirrors an argument into an HTTP header."""

_SINCE = "2026-07-28"
_CLAUSE = Clause("server/tools", "x-mcp-header")
_TYPES = ("integer", "string", "boolean")

#: RFC 9110, section 5.6.2.
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Largest integer that every JSON implementation represents exactly.
_MAX_SAFE_INTEGER = 2**53 - 1


@dataclass(frozen=True, slots=True)
class _Header:
    """A use of the keyword in an input schema."""

    #: Value of the keyword, the name of a header if it is valid.
    name: Any
    #: Subschema with the keyword.
    schema: dict[str, Any]
    #: Path of the subschema from the tool.
    path: Path
    #: Whether the subschema is a parameter: every keyword on its path is ``properties``.
    is_parameter: bool

    @property
    def location(self) -> Path:
        """Path of the keyword from the tool."""
        return (*self.path, _HEADER)


def _find_headers(tool: Any, context: Context) -> Iterator[_Header]:
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    if not contains_keyword(schema, _HEADER, context.budget):
        return  # Nearly every tool has none.
    for location in walk_schema(schema, context.budget):
        if _HEADER in location.schema:
            name = location.schema[_HEADER]
            if isinstance(name, str):
                spend(context.budget, len(name) // 16 + 20)
            is_parameter = location.by_properties and bool(location.path)
            yield _Header(name, location.schema, ("inputSchema", *location.path), is_parameter)


_HEADER_RULES = RuleSet(Group.TOOL_HEADERS, on="Tool", since=_SINCE)


@_HEADER_RULES.rule(
    "X_MCP_HEADER_STRING",
    Severity.ERROR,
    _CLAUSE,
    "The value of x-mcp-header MUST be a string.",
)
def _header_string(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _find_headers(tool, context):
        if not isinstance(header.name, str):
            description = describe_kind(header.name)
            yield Fault(
                header.location, f"x-mcp-header must be the name of a header; found {description}"
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_EMPTY",
    Severity.ERROR,
    _CLAUSE,
    "The value of x-mcp-header MUST NOT be empty.",
)
def _header_empty(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _find_headers(tool, context):
        if header.name == "":
            yield Fault(
                header.location, "x-mcp-header must be the name of a header; found an empty string"
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_CONTROL",
    Severity.ERROR,
    _CLAUSE,
    "The value of x-mcp-header MUST NOT have control characters, such as line breaks.",
)
def _header_control(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _find_headers(tool, context):
        if isinstance(header.name, str) and (control := _CONTROL.search(header.name)):
            code = "" if context.hide_values else f", U+{ord(control[0]):04X}"
            yield Fault(
                header.location,
                "x-mcp-header must have no control characters; "
                f"found one at position {control.start()}{code}",
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_TOKEN",
    Severity.ERROR,
    _CLAUSE,
    "The value of x-mcp-header MUST be a token of RFC 9110.",
)
def _header_token(tool: Any, context: Context) -> Iterator[Fault]:
    values = Values(hidden=context.hide_values)
    for header in _find_headers(tool, context):
        # Other rules report control characters and the empty name.
        if (
            isinstance(header.name, str)
            and header.name
            and not _TOKEN.fullmatch(header.name)
            and not _CONTROL.search(header.name)
        ):
            yield Fault(
                header.location,
                "x-mcp-header must be a token of ASCII letters, digits and !#$%&'*+-.^_`|~; "
                f"found {values.describe(header.name)}",
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_DUPLICATE",
    Severity.ERROR,
    _CLAUSE,
    "Values of x-mcp-header MUST be unique in an input schema, regardless of case.",
)
def _header_duplicate(tool: Any, context: Context) -> Iterator[Fault]:
    first_locations: dict[str, Path] = {}
    for header in _find_headers(tool, context):
        if not isinstance(header.name, str) or not header.name:
            continue
        first_location = first_locations.setdefault(header.name.lower(), header.location)
        if first_location != header.location:
            place = "elsewhere" if context.hide_values else f"at {as_pointer(first_location)[:200]}"
            yield Fault(
                header.location,
                f"x-mcp-header must be unique; another one {place} has the same value",
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_TYPE",
    Severity.ERROR,
    _CLAUSE,
    "A parameter with x-mcp-header MUST have the type integer, string or boolean.",
)
def _header_type(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _find_headers(tool, context):
        type_ = header.schema.get("type")
        if not header.is_parameter or type_ in _TYPES:
            continue
        if "type" not in header.schema:
            description = "found no type"
        elif context.hide_values:
            description = "found another type"
        else:
            description = f"found {format_literal(type_)}"
        yield Fault(
            header.location,
            f"a parameter with x-mcp-header must have the type {join_phrase(_TYPES)}; "
            f"{description}",
        )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_RANGE",
    Severity.ERROR,
    _CLAUSE,
    "Values in the schema of an integer with x-mcp-header MUST lie between -2^53+1 and 2^53-1.",
)
def _header_range(tool: Any, context: Context) -> Iterator[Fault]:
    return _find_unsafe_integers(tool, context, _list_values, "must")


@_HEADER_RULES.rule(
    "X_MCP_HEADER_BOUNDS",
    Severity.WARNING,
    _CLAUSE,
    "The bounds of an integer with x-mcp-header SHOULD lie between -2^53+1 and 2^53-1: values "
    "beyond must not become headers. Generators write the bounds of their integer types.",
)
def _header_bounds(tool: Any, context: Context) -> Iterator[Fault]:
    return _find_unsafe_integers(tool, context, _list_bounds, "should")


_Values: TypeAlias = Callable[[dict[str, Any], Context], Iterator[tuple[Path, int | float]]]


def _find_unsafe_integers(
    tool: Any, context: Context, values_of: _Values, modal: str
) -> Iterator[Fault]:
    """Yield a fault for each unsafe value in the schema of an integer with a header."""
    for header in _find_headers(tool, context):
        if not header.is_parameter or header.schema.get("type") != "integer":
            continue
        for step, value in values_of(header.schema, context):
            if abs(value) > _MAX_SAFE_INTEGER:
                description = "" if context.hide_values else f"; found {format_literal(value)}"
                yield Fault(
                    (*header.path, *step),
                    f"integers with x-mcp-header {modal} lie between -9007199254740991 and "
                    f"9007199254740991{description}",
                )


_BOUNDS = (("minimum", 0), ("maximum", 0), ("exclusiveMinimum", 1), ("exclusiveMaximum", -1))


def _list_bounds(schema: dict[str, Any], _context: Context) -> Iterator[tuple[Path, int | float]]:
    """Yield the smallest and largest integers that *schema* accepts."""
    for keyword, offset in _BOUNDS:
        if _is_number(bound := schema.get(keyword)):
            yield (keyword,), bound + offset


def _list_values(schema: dict[str, Any], context: Context) -> Iterator[tuple[Path, int | float]]:
    """Yield the integers in the ``const``, ``default`` and ``enum`` of *schema*."""
    for keyword in ("const", "default"):
        if _is_number(value := schema.get(keyword)):
            yield (keyword,), value
    values = schema.get("enum")
    if isinstance(values, list):
        spend(context.budget, len(values))
        for index, value in enumerate(values):
            if _is_number(value):
                yield ("enum", index), value


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


@_HEADER_RULES.rule(
    "X_MCP_HEADER_PLACE",
    Severity.ERROR,
    _CLAUSE,
    "x-mcp-header MUST be on a property that is reached from the root of the input schema "
    "only through properties.",
)
def _header_place(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _find_headers(tool, context):
        if not header.is_parameter:
            keyword = _find_other_keyword(header.path[1:])
            place = f"found it below {keyword}" if keyword else "found it on the whole schema"
            yield Fault(
                header.location,
                f"x-mcp-header must be on a property reached only through properties; {place}",
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_SENSITIVE",
    Severity.WARNING,
    _CLAUSE,
    "x-mcp-header SHOULD NOT be on a parameter with a secret: proxies see headers.",
)
def _header_sensitive(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _find_headers(tool, context):
        secret = names_secret(str(header.path[-1]), context.budget) if header.is_parameter else ""
        if secret:
            hint = "" if context.hide_values else f" ({secret})"
            yield Fault(
                header.location,
                f"a parameter that seems to hold a secret{hint} should not be sent in a header",
            )


def _find_other_keyword(path: Path) -> str:
    """Return the first keyword in *path* that is not ``properties``, or ""."""
    index = 0
    while index < len(path) and path[index] == "properties":
        index += 2  # Skip the keyword and the name of the property.
    return str(path[index]) if index < len(path) else ""
