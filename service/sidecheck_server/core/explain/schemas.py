"""Schemas in words: what one asks for, as a short phrase."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from referencing.exceptions import Unresolvable

from sidecheck_server.core.budget import spend
from sidecheck_server.core.engines.scope import Scope
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.explain.values import (
    LONGEST,
    count_noun,
    describe_choices,
    format_literal,
    join_phrase,
    quote,
)

__all__ = [
    "FORMATS",
    "MOST_BRANCHES",
    "MOST_PROPERTIES",
    "SchemaPart",
    "allowed_constants",
    "describe_alternatives",
    "describe_schema",
    "describe_types",
    "schema_parts",
]

MOST_BRANCHES = 100
"""How many branches of a choice are looked at."""
MOST_PROPERTIES = 200
"""How many properties of a schema are looked at."""

_MOST_PARTS = 24
_MOST_ALTERNATIVES = 5
_DEEPEST = 2

_TYPES = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
_PLURALS = {
    "array": "arrays",
    "boolean": "booleans",
    "integer": "integers",
    "number": "numbers",
    "object": "objects",
    "string": "strings",
}
FORMATS = {
    "date": "a date such as 2025-01-31",
    "date-time": "a date and time with an offset such as 2025-01-31T12:00:00Z",
    "duration": "a duration such as P1DT12H",
    "email": "an e-mail address",
    "hostname": "a host name",
    "idn-email": "an e-mail address",
    "idn-hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "iri": "an absolute IRI such as https://example.com/",
    "iri-reference": "an IRI reference",
    "json-pointer": "a JSON Pointer such as /a/0",
    "regex": "a regular expression",
    "relative-json-pointer": "a relative JSON Pointer such as 1/a",
    "time": "a time with an offset such as 12:00:00Z",
    "uri": "an absolute URI such as https://example.com/",
    "uri-reference": "a URI reference",
    "uri-template": "a URI template",
    "uuid": "a UUID",
}
"""The formats in words."""


class SchemaPart(NamedTuple):
    """An object schema, and the scope in which its references are read."""

    schema: Mapping[str, Any]
    scope: Scope

    def get(self, keyword: str, kind: type) -> Any:
        """Return the value of *keyword*, or an empty *kind* if it is not in force."""
        value = self.schema.get(keyword) if keyword in self.scope.dialect.keywords else None
        return value if isinstance(value, kind) else kind()


def schema_parts(schema: Any, scope: Scope) -> list[SchemaPart]:
    """Return *schema* and what it consists of through ``$ref`` and ``allOf``, up to a bound.

    It takes steps of the judgement, since a schema can make many of a few.
    """
    if isinstance(schema, dict) and not schema.keys() & _LEADING:
        spend(scope.budget, APPLICATION_STEPS)
        return [SchemaPart(schema, scope.enter(schema))]
    parts: list[SchemaPart] = []
    stack = [(schema, scope)]
    for _ in range(_MOST_PARTS):
        if not stack:
            break
        spend(scope.budget, APPLICATION_STEPS)
        here, around = stack.pop(0)
        if not isinstance(here, dict) or any(here is part.schema for part in parts):
            continue
        inside = around.enter(here)
        if "$ref" in here:
            with suppress(Unresolvable):
                stack.append(inside.follow(here["$ref"]))
            if inside.dialect.reference_hides_siblings:
                continue
        part = SchemaPart(here, inside)
        parts.append(part)
        stack.extend((each, inside) for each in part.get("allOf", list))
    return parts


_LEADING = frozenset({"$ref", "allOf"})


def allowed_constants(part: SchemaPart) -> list[Any] | None:
    """Return the only values that *part* allows by ``const`` or ``enum``, or None."""
    in_force = part.scope.dialect.keywords
    if "const" in part.schema and "const" in in_force:
        return [part.schema["const"]]
    values = part.schema.get("enum") if "enum" in in_force else None
    return values if isinstance(values, list) and values else None


def describe_types(types: Any) -> str:
    """Return the value of ``type`` as a phrase."""
    names = [types] if isinstance(types, str) else types
    return join_phrase([_TYPES.get(name, str(name)) for name in names])


def describe_schema(schema: Any, scope: Scope, depth: int = 0) -> str:
    """Return what *schema* asks for as a phrase such as ``an array of strings``, or "".

    It is a summary: what it says is asked for, but more may be.
    """
    if schema is False:
        return "nothing at all"
    if depth > _DEEPEST:
        return ""
    return next((said for said in _descriptions(schema_parts(schema, scope), depth) if said), "")


def _descriptions(parts: list[SchemaPart], depth: int) -> Iterator[str]:
    """Yield what may be said of *parts*, the most telling first."""
    for part in parts:
        values = allowed_constants(part)
        if values is not None:
            yield describe_choices(values)
    for part in parts:
        yield _by_type(part, parts, depth)
    for part in parts:
        branches = part.get("anyOf", list) or part.get("oneOf", list)
        yield describe_alternatives(branches, part.scope, depth + 1)
    if any(part.get("required", list) or part.get("properties", dict) for part in parts):
        yield _an_object(parts)
    for part in parts:
        said = _a_string(part)
        yield said if said != _TYPES["string"] else ""
        said = _bounds(part)
        yield f"{_TYPES['number']}{said}" if said else ""


def _by_type(part: SchemaPart, parts: list[SchemaPart], depth: int) -> str:
    types = part.schema.get("type") if "type" in part.scope.dialect.keywords else None
    match types:
        case None:
            return ""
        case "object":
            return _an_object(parts)
        case "array":
            return _an_array(part, depth)
        case "string":
            return _a_string(part)
        case "integer" | "number":
            return _TYPES[types] + _bounds(part)
        case _:
            return describe_types(types)


def describe_alternatives(branches: Sequence[Any], scope: Scope, depth: int = 1) -> str:
    """Return what the first few *branches* ask for, or "" if that cannot be said of one."""
    different: list[str] = []
    for index, branch in enumerate(branches):
        if len(different) == _MOST_ALTERNATIVES:
            different.append(f"one of {count_noun(len(branches) - index, 'other thing')}")
            break
        described = describe_schema(branch, scope, depth)
        if not described:
            return ""
        if described not in different:
            different.append(described)
    return join_phrase(different)


def _an_object(parts: list[SchemaPart]) -> str:
    kinds = []
    for part in parts:
        for name, member in islice(part.get("properties", dict).items(), MOST_PROPERTIES):
            values = [allowed_constants(each) for each in schema_parts(member, part.scope)]
            one = next((each for each in values if each is not None and len(each) == 1), None)
            if one is not None:
                kinds.append(f"{quote(name)} is {format_literal(one[0])}")
    if kinds:
        return f"an object whose {join_phrase(kinds[:2], 'and')}"
    names = [name for part in parts for name in part.get("required", list)]
    names = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    if names:
        shown = [quote(name) for name in names[:5]]
        if len(names) > 5:
            shown.append(f"{len(names) - 5} more")
        return f"an object with {join_phrase(shown, 'and')}"
    return "an object"


def _an_array(part: SchemaPart, depth: int) -> str:
    items = part.schema.get("items")
    if isinstance(items, dict):
        for inner in schema_parts(items, part.scope):
            values = allowed_constants(inner)
            if values is not None and depth < _DEEPEST:
                return f"an array of {describe_choices(values).replace('one of ', '', 1)}"
            kind = inner.schema.get("type")
            if isinstance(kind, str) and kind in _PLURALS:
                return f"an array of {_PLURALS[kind]}"
    return "an array"


def _a_string(part: SchemaPart) -> str:
    name = part.schema.get("format") if "format" in part.scope.dialect.keywords else None
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    pattern = part.get("pattern", str)
    if pattern and len(pattern) <= LONGEST and pattern.isprintable():
        return f"a string that matches the pattern {pattern}"
    least = part.schema.get("minLength")
    if least and "minLength" in part.scope.dialect.keywords:
        return f"a string of at least {count_noun(least, 'character')}"
    return "a string"


def _bounds(part: SchemaPart) -> str:
    said = []
    for keyword, words in (
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
    ):
        bound = part.schema.get(keyword)
        if keyword in part.scope.dialect.keywords and not isinstance(bound, bool | None):
            said.append(f"{words} {format_literal(bound)}")
    return f" of {join_phrase(said, 'and')}" if said else ""
