"""Schemas in words: what one asks for, as a short phrase."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from referencing.exceptions import Unresolvable

from sidecheck_server.core.budget import spend
from sidecheck_server.core.engines.charges import APPLYING
from sidecheck_server.core.engines.scope import Scope
from sidecheck_server.core.explain.values import LONGEST, counted, listed, literal, quoted, some

__all__ = [
    "FORMATS",
    "MOST_BRANCHES",
    "MOST_MEMBERS",
    "Part",
    "alternatives",
    "constants",
    "describe",
    "parts_of",
    "types_in_words",
]

MOST_BRANCHES = 100
"""How many branches of a choice are looked at."""
MOST_MEMBERS = 200
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


class Part(NamedTuple):
    """An object schema, and the scope in which its references are read."""

    schema: Mapping[str, Any]
    scope: Scope

    def get(self, keyword: str, kind: type) -> Any:
        """Return the value of *keyword*, or an empty *kind* if it is not in force."""
        value = self.schema.get(keyword) if keyword in self.scope.dialect.keywords else None
        return value if isinstance(value, kind) else kind()


def parts_of(schema: Any, scope: Scope) -> list[Part]:
    """Return *schema* and what it consists of through ``$ref`` and ``allOf``, up to a bound.

    It takes steps of the judgement, since a schema can make many of a few.
    """
    if isinstance(schema, dict) and not schema.keys() & _LEADING:
        spend(scope.budget, APPLYING)
        return [Part(schema, scope.enter(schema))]
    parts: list[Part] = []
    stack = [(schema, scope)]
    for _ in range(_MOST_PARTS):
        if not stack:
            break
        spend(scope.budget, APPLYING)
        here, around = stack.pop(0)
        if not isinstance(here, dict) or any(here is part.schema for part in parts):
            continue
        inside = around.enter(here)
        if "$ref" in here:
            with suppress(Unresolvable):
                stack.append(inside.follow(here["$ref"]))
            if inside.dialect.reference_hides_siblings:
                continue
        part = Part(here, inside)
        parts.append(part)
        stack.extend((each, inside) for each in part.get("allOf", list))
    return parts


_LEADING = frozenset({"$ref", "allOf"})


def constants(part: Part) -> list[Any] | None:
    """Return the only values that *part* allows by ``const`` or ``enum``, or None."""
    in_force = part.scope.dialect.keywords
    if "const" in part.schema and "const" in in_force:
        return [part.schema["const"]]
    values = part.schema.get("enum") if "enum" in in_force else None
    return values if isinstance(values, list) and values else None


def types_in_words(types: Any) -> str:
    """Return the value of ``type`` as a phrase."""
    names = [types] if isinstance(types, str) else types
    return listed([_TYPES.get(name, str(name)) for name in names])


def describe(schema: Any, scope: Scope, depth: int = 0) -> str:
    """Return what *schema* asks for as a phrase such as ``an array of strings``, or "".

    It is a summary: what it says is asked for, but more may be.
    """
    if schema is False:
        return "nothing at all"
    if depth > _DEEPEST:
        return ""
    return next((said for said in _descriptions(parts_of(schema, scope), depth) if said), "")


def _descriptions(parts: list[Part], depth: int) -> Iterator[str]:
    """Yield what may be said of *parts*, the most telling first."""
    for part in parts:
        values = constants(part)
        if values is not None:
            yield some(values)
    for part in parts:
        yield _by_type(part, parts, depth)
    for part in parts:
        branches = part.get("anyOf", list) or part.get("oneOf", list)
        yield alternatives(branches, part.scope, depth + 1)
    if any(part.get("required", list) or part.get("properties", dict) for part in parts):
        yield _an_object(parts)
    for part in parts:
        said = _a_string(part)
        yield said if said != _TYPES["string"] else ""
        said = _bounds(part)
        yield f"{_TYPES['number']}{said}" if said else ""


def _by_type(part: Part, parts: list[Part], depth: int) -> str:
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
            return types_in_words(types)


def alternatives(branches: Sequence[Any], scope: Scope, depth: int = 1) -> str:
    """Return what the first few *branches* ask for, or "" if that cannot be said of one."""
    different: list[str] = []
    for index, branch in enumerate(branches):
        if len(different) == _MOST_ALTERNATIVES:
            different.append(f"one of {counted(len(branches) - index, 'other thing')}")
            break
        described = describe(branch, scope, depth)
        if not described:
            return ""
        if described not in different:
            different.append(described)
    return listed(different)


def _an_object(parts: list[Part]) -> str:
    kinds = []
    for part in parts:
        for name, member in islice(part.get("properties", dict).items(), MOST_MEMBERS):
            values = [constants(each) for each in parts_of(member, part.scope)]
            one = next((each for each in values if each is not None and len(each) == 1), None)
            if one is not None:
                kinds.append(f"{quoted(name)} is {literal(one[0])}")
    if kinds:
        return f"an object whose {listed(kinds[:2], 'and')}"
    names = [name for part in parts for name in part.get("required", list)]
    names = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    if names:
        shown = [quoted(name) for name in names[:5]]
        if len(names) > 5:
            shown.append(f"{len(names) - 5} more")
        return f"an object with {listed(shown, 'and')}"
    return "an object"


def _an_array(part: Part, depth: int) -> str:
    items = part.schema.get("items")
    if isinstance(items, dict):
        for inner in parts_of(items, part.scope):
            values = constants(inner)
            if values is not None and depth < _DEEPEST:
                return f"an array of {some(values).replace('one of ', '', 1)}"
            kind = inner.schema.get("type")
            if isinstance(kind, str) and kind in _PLURALS:
                return f"an array of {_PLURALS[kind]}"
    return "an array"


def _a_string(part: Part) -> str:
    name = part.schema.get("format") if "format" in part.scope.dialect.keywords else None
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    pattern = part.get("pattern", str)
    if pattern and len(pattern) <= LONGEST and pattern.isprintable():
        return f"a string that matches the pattern {pattern}"
    least = part.schema.get("minLength")
    if least and "minLength" in part.scope.dialect.keywords:
        return f"a string of at least {counted(least, 'character')}"
    return "a string"


def _bounds(part: Part) -> str:
    said = []
    for keyword, words in (
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
    ):
        bound = part.schema.get(keyword)
        if keyword in part.scope.dialect.keywords and not isinstance(bound, bool | None):
            said.append(f"{words} {literal(bound)}")
    return f" of {listed(said, 'and')}" if said else ""
