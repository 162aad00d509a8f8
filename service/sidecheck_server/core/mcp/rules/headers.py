"""Headers of tool arguments (`x-mcp-header`)."""

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
_SAFE = 2**53 - 1


@dataclass(frozen=True, slots=True)
class _Header:
    """A header name in a schema."""

    name: Any
    #: Subschema with the keyword.
    schema: dict[str, Any]
    #: Path of the subschema from the tool.
    path: Path
    #: Whether the subschema is a parameter: a property reached only through properties.
    on_parameter: bool

    @property
    def location(self) -> Path:
        """Path of the keyword from the tool."""
        return (*self.path, _HEADER)


def _headers(tool: Any, context: Context) -> Iterator[_Header]:
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    if not contains_keyword(schema, _HEADER, context.budget):
        return  # nearly every tool
    for here in walk_schema(schema, context.budget):
        if _HEADER in here.schema:
            name = here.schema[_HEADER]
            if isinstance(name, str):
                spend(context.budget, len(name) // 16 + 20)
            on_parameter = here.by_properties and bool(here.path)
            yield _Header(name, here.schema, ("inputSchema", *here.path), on_parameter)


_HEADER_RULES = RuleSet(Group.TOOL_HEADERS, on="Tool", since=_SINCE)


@_HEADER_RULES.rule(
    "X_MCP_HEADER_STRING",
    Severity.ERROR,
    _CLAUSE,
    "The value of x-mcp-header MUST be a string.",
)
def _string(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _headers(tool, context):
        if not isinstance(header.name, str):
            found = describe_kind(header.name)
            yield Fault(
                header.location, f"x-mcp-header must be the name of a header; found {found}"
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_EMPTY",
    Severity.ERROR,
    _CLAUSE,
    "The value of x-mcp-header MUST NOT be empty.",
)
def _not_empty(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _headers(tool, context):
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
def _without_controls(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _headers(tool, context):
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
def _token(tool: Any, context: Context) -> Iterator[Fault]:
    values = Values(hidden=context.hide_values)
    for header in _headers(tool, context):
        # Control characters and the empty name have their own rules.
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
def _unique(tool: Any, context: Context) -> Iterator[Fault]:
    first: dict[str, Path] = {}
    for header in _headers(tool, context):
        if not isinstance(header.name, str) or not header.name:
            continue
        earlier = first.setdefault(header.name.lower(), header.location)
        if earlier != header.location:
            where = "elsewhere" if context.hide_values else f"at {as_pointer(earlier)[:200]}"
            yield Fault(
                header.location,
                f"x-mcp-header must be unique; another one {where} has the same value",
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_TYPE",
    Severity.ERROR,
    _CLAUSE,
    "A parameter with x-mcp-header MUST have the type integer, string or boolean.",
)
def _primitive(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _headers(tool, context):
        type_ = header.schema.get("type")
        if not header.on_parameter or type_ in _TYPES:
            continue
        if "type" not in header.schema:
            found = "found no type"
        elif context.hide_values:
            found = "found another type"
        else:
            found = f"found {format_literal(type_)}"
        yield Fault(
            header.location,
            f"a parameter with x-mcp-header must have the type {join_phrase(_TYPES)}; {found}",
        )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_RANGE",
    Severity.ERROR,
    _CLAUSE,
    "Values in the schema of an integer with x-mcp-header MUST lie between -2^53+1 and 2^53-1.",
)
def _safe(tool: Any, context: Context) -> Iterator[Fault]:
    return _unsafe(tool, context, _listed_values, "must")


@_HEADER_RULES.rule(
    "X_MCP_HEADER_BOUNDS",
    Severity.WARNING,
    _CLAUSE,
    "The bounds of an integer with x-mcp-header SHOULD lie between -2^53+1 and 2^53-1: values "
    "beyond must not become headers. Generators write the bounds of their integer types.",
)
def _safe_bounds(tool: Any, context: Context) -> Iterator[Fault]:
    return _unsafe(tool, context, _extreme_values, "should")


_Values: TypeAlias = Callable[[dict[str, Any], Context], Iterator[tuple[Path, int | float]]]


def _unsafe(tool: Any, context: Context, values_of: _Values, modal: str) -> Iterator[Fault]:
    """Yield the values of integers with a header that are beyond the safe range."""
    for header in _headers(tool, context):
        if not header.on_parameter or header.schema.get("type") != "integer":
            continue
        for step, value in values_of(header.schema, context):
            if abs(value) > _SAFE:
                found = "" if context.hide_values else f"; found {format_literal(value)}"
                yield Fault(
                    (*header.path, *step),
                    f"integers with x-mcp-header {modal} lie between -9007199254740991 and "
                    f"9007199254740991{found}",
                )


_BOUNDS = (("minimum", 0), ("maximum", 0), ("exclusiveMinimum", 1), ("exclusiveMaximum", -1))


def _extreme_values(
    schema: dict[str, Any], _context: Context
) -> Iterator[tuple[Path, int | float]]:
    """Yield the extreme integers that *schema* admits."""
    for keyword, offset in _BOUNDS:
        if _is_number(bound := schema.get(keyword)):
            yield (keyword,), bound + offset


def _listed_values(schema: dict[str, Any], context: Context) -> Iterator[tuple[Path, int | float]]:
    """Yield the integers that *schema* names."""
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
def _reachable(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _headers(tool, context):
        if not header.on_parameter:
            keyword = _first_other_keyword(header.path[1:])
            where = f"found it below {keyword}" if keyword else "found it on the whole schema"
            yield Fault(
                header.location,
                f"x-mcp-header must be on a property reached only through properties; {where}",
            )


@_HEADER_RULES.rule(
    "X_MCP_HEADER_SENSITIVE",
    Severity.WARNING,
    _CLAUSE,
    "x-mcp-header SHOULD NOT be on a parameter with a secret: proxies see headers.",
)
def _not_secret(tool: Any, context: Context) -> Iterator[Fault]:
    for header in _headers(tool, context):
        secret = names_secret(str(header.path[-1]), context.budget) if header.on_parameter else ""
        if secret:
            hint = "" if context.hide_values else f" ({secret})"
            yield Fault(
                header.location,
                f"a parameter that seems to hold a secret{hint} should not be sent in a header",
            )


def _first_other_keyword(path: Path) -> str:
    """Return the first keyword in *path* that is not ``properties``, or ""."""
    index = 0
    while index < len(path) and path[index] == "properties":
        index += 2  # the keyword and the name of a property
    return str(path[index]) if index < len(path) else ""
