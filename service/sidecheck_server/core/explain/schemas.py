"""Descriptions of schemas: short phrases for the values that they accept."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

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
from sidecheck_server.core.limits import spend
from sidecheck_server.core.schemas.resources import UnresolvableError

__all__ = [
    "FORMATS",
    "MOST_BRANCHES",
    "MOST_PROPERTIES",
    "SchemaPart",
    "allowed_constants",
    "describe_alternatives",
    "describe_schema",
    "describe_types",
    "rejects_every_value",
    "schema_parts",
]

MOST_BRANCHES = 100
"""Most branches of a choice that are read."""
MOST_PROPERTIES = 200
"""Most properties of a schema that are read."""

_MOST_PARTS = 24
"""Most targets of ``$ref`` and ``allOf`` that are read."""
_MOST_ALTERNATIVES = 5
"""Most branches of a choice that a phrase describes."""
_DEEPEST = 2
"""Most nested descriptions in a phrase."""

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
"""Phrase for each format."""


class SchemaPart(NamedTuple):
    """An object schema, and the scope that resolves its references."""

    schema: Mapping[str, Any]
    scope: Scope

    def get(self, keyword: str, kind: type) -> Any:
        """Return the value of *keyword*, or an empty *kind* if it is not in force."""
        value = self.schema.get(keyword) if keyword in self.scope.dialect.keywords else None
        return value if isinstance(value, kind) else kind()


def schema_parts(schema: Any, scope: Scope) -> list[SchemaPart]:
    """Return *schema* and the targets of its ``$ref`` and ``allOf``, up to a bound.

    This charges the budget of *scope*, because a few schemas can include many.

    Raises:
        Exhausted: the budget has too few steps.
    """
    if isinstance(schema, dict) and not schema.keys() & _INCLUDING:
        spend(scope.budget, APPLICATION_STEPS)
        return [SchemaPart(schema, scope.enter(schema))]
    parts: list[SchemaPart] = []
    stack = [(schema, scope)]
    for _ in range(_MOST_PARTS):
        if not stack:
            break
        spend(scope.budget, APPLICATION_STEPS)
        current, outer = stack.pop(0)
        if not isinstance(current, dict) or any(current is part.schema for part in parts):
            continue
        inner = outer.enter(current)
        if "$ref" in current:
            with suppress(UnresolvableError):
                stack.append(inner.follow(current["$ref"]))
            if inner.dialect.reference_hides_siblings:
                continue
        part = SchemaPart(current, inner)
        parts.append(part)
        stack.extend((branch, inner) for branch in part.get("allOf", list))
    return parts


_INCLUDING = frozenset({"$ref", "allOf"})
"""Keywords that apply further schemas to the same value in every case."""


def allowed_constants(part: SchemaPart) -> list[Any] | None:
    """Return the values to which ``const`` or ``enum`` limits *part*, or None."""
    in_force = part.scope.dialect.keywords
    if "const" in part.schema and "const" in in_force:
        return [part.schema["const"]]
    values = part.schema.get("enum") if "enum" in in_force else None
    return values if isinstance(values, list) and values else None


def rejects_every_value(schema: Any) -> bool:
    """Return whether *schema* is ``false`` or an equivalent ``not``."""
    return schema is False or (isinstance(schema, dict) and _excludes_all(schema.get("not")))


def _excludes_all(schema: Any) -> bool:
    return schema is True or schema == {}


def describe_types(types: Any) -> str:
    """Return *types*, the value of ``type``, as a phrase such as ``a string or null``."""
    names = [types] if isinstance(types, str) else types
    return join_phrase([_TYPES.get(name, str(name)) for name in names])


def describe_schema(schema: Any, scope: Scope, depth: int = 0) -> str:
    """Return a phrase for *schema* such as ``an array of strings``, or "".

    The phrase is a summary: the schema may have further constraints.
    """
    if schema is False:
        return "nothing at all"
    if depth > _DEEPEST:
        return ""
    phrases = _iterate_descriptions(schema_parts(schema, scope), depth)
    return next((phrase for phrase in phrases if phrase), "")


def _iterate_descriptions(parts: list[SchemaPart], depth: int) -> Iterator[str]:
    """Yield phrases for *parts*, which may be empty, the most specific first."""
    for part in parts:
        values = allowed_constants(part)
        if values is not None:
            yield describe_choices(values)
    for part in parts:
        yield _describe_by_type(part, parts, depth)
    for part in parts:
        branches = part.get("anyOf", list) or part.get("oneOf", list)
        yield describe_alternatives(branches, part.scope, depth + 1)
    if any(part.get("required", list) or part.get("properties", dict) for part in parts):
        yield _describe_object(parts)
    for part in parts:
        phrase = _describe_string(part)
        yield phrase if phrase != _TYPES["string"] else ""
        bounds = _describe_bounds(part)
        yield f"{_TYPES['number']}{bounds}" if bounds else ""
        excluded = part.schema.get("not") if "not" in part.scope.dialect.keywords else None
        described = describe_schema(excluded, part.scope, depth + 1) if excluded else ""
        yield f"anything but {described}" if described else ""


def _describe_by_type(part: SchemaPart, parts: list[SchemaPart], depth: int) -> str:
    types = part.schema.get("type") if "type" in part.scope.dialect.keywords else None
    match types:
        case None:
            return ""
        case "object":
            return _describe_object(parts)
        case "array":
            return _describe_array(part, depth)
        case "string":
            return _describe_string(part)
        case "integer" | "number":
            return _TYPES[types] + _describe_bounds(part)
        case _:
            return describe_types(types)


def describe_alternatives(branches: Sequence[Any], scope: Scope, depth: int = 1) -> str:
    """Return a phrase for the first few *branches*, or "" if none has a description."""
    phrases: list[str] = []
    other_count = 0
    for index, branch in enumerate(branches):
        if len(phrases) == _MOST_ALTERNATIVES:
            other_count += len(branches) - index
            break
        if rejects_every_value(branch):
            continue
        phrase = describe_schema(branch, scope, depth)
        other_count += not phrase
        if phrase and phrase not in phrases:
            phrases.append(phrase)
    if phrases and other_count:
        phrases.append(f"one of {count_noun(other_count, 'other alternative')}")
    return join_phrase(phrases)


def _describe_object(parts: list[SchemaPart]) -> str:
    discriminators = []
    for part in parts:
        for name, schema in islice(part.get("properties", dict).items(), MOST_PROPERTIES):
            constants = [allowed_constants(inner) for inner in schema_parts(schema, part.scope)]
            single = next((values for values in constants if values and len(values) == 1), None)
            if single is not None:
                discriminators.append(f"{quote(name)} is {format_literal(single[0])}")
    if discriminators:
        return f"an object whose {join_phrase(discriminators[:2], 'and')}"
    names = [name for part in parts for name in part.get("required", list)]
    names = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    if names:
        shown = [quote(name) for name in names[:5]]
        if len(names) > 5:
            shown.append(f"{len(names) - 5} more")
        return f"an object with {join_phrase(shown, 'and')}"
    return "an object"


def _describe_array(part: SchemaPart, depth: int) -> str:
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


def _describe_string(part: SchemaPart) -> str:
    name = part.schema.get("format") if "format" in part.scope.dialect.keywords else None
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    pattern = part.get("pattern", str)
    if pattern:
        shown = pattern if len(pattern) <= LONGEST else f"{pattern[: LONGEST - 1]}…"
        shown = shown if shown.isprintable() else quote(shown)
        return f"a string that matches the pattern {shown}"
    in_force = part.scope.dialect.keywords
    least = part.schema.get("minLength") if "minLength" in in_force else None
    most = part.schema.get("maxLength") if "maxLength" in in_force else None
    if least and most is not None:
        return f"a string of {format_literal(least)} to {count_noun(most, 'character')}"
    if least:
        return f"a string of at least {count_noun(least, 'character')}"
    return "a string" if most is None else f"a string of at most {count_noun(most, 'character')}"


def _describe_bounds(part: SchemaPart) -> str:
    phrases = []
    for keyword, words in (
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
    ):
        bound = part.schema.get(keyword)
        if keyword in part.scope.dialect.keywords and not isinstance(bound, bool | None):
            phrases.append(f"{words} {format_literal(bound)}")
    divisor = part.schema.get("multipleOf")
    if divisor is not None and "multipleOf" in part.scope.dialect.keywords:
        multiple = f"that is a multiple of {format_literal(divisor)}"
        return f" of {join_phrase(phrases, 'and')} {multiple}" if phrases else f" {multiple}"
    return f" of {join_phrase(phrases, 'and')}" if phrases else ""
