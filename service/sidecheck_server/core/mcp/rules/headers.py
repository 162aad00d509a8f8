"""Arguments of tools that are mirrored into HTTP headers: the annotation `x-mcp-header`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values, kind_of, listed, literal
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Path, Rule, rule
from sidecheck_server.core.mcp.rules.secrets import names_secret
from sidecheck_server.core.schemas.walker import mentions, walk_schema
from sidecheck_server.core.types import Severity, as_pointer

__all__ = ["HEADER", "RULES"]

HEADER = "x-mcp-header"
"""The keyword."""

_SINCE = "2026-07-28"
_CLAUSE = Clause("server/tools", "x-mcp-header")
_TYPES = ("integer", "string", "boolean")

#: RFC 9110, section 5.6.2.
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SAFE = 2**53 - 1


@dataclass(frozen=True, slots=True)
class _Annotation:
    """A header that a schema names."""

    name: Any
    #: The subschema that has it.
    schema: dict[str, Any]
    #: The way to the subschema from the tool.
    path: Path
    #: Whether it stands on a parameter: a property that is reached by nothing else.
    on_parameter: bool

    @property
    def at(self) -> Path:
        """The way to the annotation from the tool."""
        return (*self.path, HEADER)


def _annotations(tool: Any, context: Context) -> Iterator[_Annotation]:
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    if not mentions(schema, HEADER, context.budget):
        return  # as with nearly every tool
    for here in walk_schema(schema, context.budget):
        if HEADER in here.schema:
            name = here.schema[HEADER]
            if isinstance(name, str):
                spend(context.budget, len(name) // 16 + 20)
            on_parameter = here.by_properties and bool(here.path)
            yield _Annotation(name, here.schema, ("inputSchema", *here.path), on_parameter)


@rule(
    "X_MCP_HEADER_STRING",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence="The value of x-mcp-header is a string.",
    on="Tool",
    since=_SINCE,
)
def _a_string(tool: Any, context: Context) -> Iterator[Fault]:
    for one in _annotations(tool, context):
        if not isinstance(one.name, str):
            found = kind_of(one.name)
            yield Fault(one.at, f"x-mcp-header must be the name of a header; found {found}")


@rule(
    "X_MCP_HEADER_EMPTY",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence="The value of x-mcp-header is not empty.",
    on="Tool",
    since=_SINCE,
)
def _not_empty(tool: Any, context: Context) -> Iterator[Fault]:
    for one in _annotations(tool, context):
        if one.name == "":
            yield Fault(one.at, "x-mcp-header must be the name of a header; it is empty")


@rule(
    "X_MCP_HEADER_CONTROL",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence="The value of x-mcp-header has no control characters, line breaks least of all.",
    on="Tool",
    since=_SINCE,
)
def _without_controls(tool: Any, context: Context) -> Iterator[Fault]:
    for one in _annotations(tool, context):
        if isinstance(one.name, str) and (control := _CONTROL.search(one.name)):
            code = "" if context.hide_values else f", U+{ord(control[0]):04X}"
            yield Fault(
                one.at,
                "x-mcp-header must have no control characters; "
                f"it has one at position {control.start()}{code}",
            )


@rule(
    "X_MCP_HEADER_TOKEN",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence="The value of x-mcp-header is a token of RFC 9110.",
    on="Tool",
    since=_SINCE,
)
def _a_token(tool: Any, context: Context) -> Iterator[Fault]:
    values = Values(hidden=context.hide_values)
    for one in _annotations(tool, context):
        # Control characters and the empty name have rules of their own.
        if (
            isinstance(one.name, str)
            and one.name
            and not _TOKEN.fullmatch(one.name)
            and not _CONTROL.search(one.name)
        ):
            yield Fault(
                one.at,
                "x-mcp-header must be a token: letters, digits and !#$%&'*+-.^_`|~ of ASCII; "
                f"found {values.found(one.name)}",
            )


@rule(
    "X_MCP_HEADER_DUPLICATE",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence="No two x-mcp-header of an input schema have the same value, whatever the case.",
    on="Tool",
    since=_SINCE,
)
def _unique(tool: Any, context: Context) -> Iterator[Fault]:
    first: dict[str, Path] = {}
    for one in _annotations(tool, context):
        if not isinstance(one.name, str) or not one.name:
            continue
        before = first.setdefault(one.name.lower(), one.at)
        if before != one.at:
            where = "elsewhere" if context.hide_values else f"at {as_pointer(before)[:200]}"
            yield Fault(one.at, f"x-mcp-header must differ from others; the same stands {where}")


@rule(
    "X_MCP_HEADER_TYPE",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence="A parameter with x-mcp-header has the type integer, string or boolean.",
    on="Tool",
    since=_SINCE,
)
def _primitive(tool: Any, context: Context) -> Iterator[Fault]:
    for one in _annotations(tool, context):
        type_ = one.schema.get("type")
        if not one.on_parameter or type_ in _TYPES:
            continue
        if "type" not in one.schema:
            found = "it declares none"
        elif context.hide_values:
            found = "it has another"
        else:
            found = f"it has {literal(type_)}"
        yield Fault(
            one.at, f"a parameter with x-mcp-header must have the type {listed(_TYPES)}; {found}"
        )


@rule(
    "X_MCP_HEADER_RANGE",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence=(
        "What the schema of an integer with x-mcp-header names as a bound or a value lies from "
        "-2^53+1 to 2^53-1."
    ),
    on="Tool",
    since=_SINCE,
)
def _safe(tool: Any, context: Context) -> Iterator[Fault]:
    for one in _annotations(tool, context):
        if not one.on_parameter or one.schema.get("type") != "integer":
            continue
        for step, value in _integers(one.schema, context):
            if abs(value) > _SAFE:
                found = "" if context.hide_values else f"; found {literal(value)}"
                yield Fault(
                    (*one.path, *step),
                    "integers with x-mcp-header must lie from -9007199254740991 to "
                    f"9007199254740991{found}",
                )


def _integers(schema: dict[str, Any], context: Context) -> Iterator[tuple[Path, int | float]]:
    """Yield what *schema* lets an integer be at its ends, and the values that it names."""
    for keyword, inwards in _BOUNDS:
        if _is_number(bound := schema.get(keyword)):
            yield (keyword,), bound + inwards
    for keyword in ("const", "default"):
        if _is_number(value := schema.get(keyword)):
            yield (keyword,), value
    values = schema.get("enum")
    if isinstance(values, list):
        spend(context.budget, len(values))
        for index, value in enumerate(values):
            if _is_number(value):
                yield ("enum", index), value


_BOUNDS = (("minimum", 0), ("maximum", 0), ("exclusiveMinimum", 1), ("exclusiveMaximum", -1))


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


@rule(
    "X_MCP_HEADER_PLACE",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence=(
        "x-mcp-header stands on a property that is reached from the root of the input schema "
        "by properties alone."
    ),
    on="Tool",
    since=_SINCE,
)
def _reachable(tool: Any, context: Context) -> Iterator[Fault]:
    for one in _annotations(tool, context):
        if not one.on_parameter:
            through = _first_other_keyword(one.path[1:])
            where = f"it stands below {through}" if through else "it stands on the whole schema"
            yield Fault(
                one.at,
                f"x-mcp-header must stand on a property reached by properties alone; {where}",
            )


@rule(
    "X_MCP_HEADER_SENSITIVE",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="x-mcp-header does not stand on a parameter that holds a secret: proxies see headers.",
    on="Tool",
    since=_SINCE,
)
def _not_secret(tool: Any, context: Context) -> Iterator[Fault]:
    for one in _annotations(tool, context):
        secret = names_secret(str(one.path[-1]), context.budget) if one.on_parameter else ""
        if secret:
            what = "a secret" if context.hide_values else f"a secret, by its name: {secret}"
            yield Fault(
                one.at, f"what proxies may not see has no place in a header; this is {what}"
            )


def _first_other_keyword(path: Path) -> str:
    """Return the first keyword on the way *path* that is not ``properties``, or ""."""
    index = 0
    while index < len(path) and path[index] == "properties":
        index += 2  # the keyword and the name of a property
    return str(path[index]) if index < len(path) else ""


RULES: tuple[Rule, ...] = (
    _a_string,
    _not_empty,
    _without_controls,
    _a_token,
    _unique,
    _primitive,
    _safe,
    _reachable,
    _not_secret,
)
