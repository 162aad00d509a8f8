"""Generators of every keyword, in each form of the editions.

A rule returns related keywords. The table at the end has the kind of value and the editions
of each rule.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agreement.branch_rules import (
    Keywords,
    Rule,
    branches,
    lone_then,
    simple_branches,
    write_if,
    write_not,
)
from agreement.editions import Edition
from agreement.unevaluated_rules import unevaluated_items, unevaluated_properties
from agreement.values import DIVISORS, FORMATS, spelling
from sidecheck_server.core.types import Draft

if TYPE_CHECKING:
    from agreement.writing import Writer

__all__ = ["of_kind"]


def _bounds(write: "Writer", _depth: int) -> Keywords:
    low, high = sorted((write.number(), write.number()))
    names = write.choose((("minimum",), ("maximum",), ("minimum", "maximum")))
    return {name: low if name == "minimum" else high for name in names}


def _exclusive_bounds(write: "Writer", _depth: int) -> Keywords:
    low, high = sorted((write.number(), write.number()))
    if write.edition.draft is Draft.DRAFT_04:
        return write.choose(
            (
                {"minimum": low, "exclusiveMinimum": True},
                {"maximum": high, "exclusiveMaximum": True},
                {"minimum": low, "exclusiveMinimum": False},
                {"maximum": high, "exclusiveMaximum": False},
            )
        )
    return write.choose(({"exclusiveMinimum": low}, {"exclusiveMaximum": high}))


def _multiple_of(write: "Writer", _depth: int) -> Keywords:
    return {"multipleOf": write.choose(DIVISORS)}


def _counting(minimum: str, maximum: str) -> Rule:
    return lambda write, _depth: _counts(write, minimum, maximum)


def _counts(write: "Writer", minimum: str, maximum: str) -> Keywords:
    low = write.count(0, 2)
    high = write.count(int(low), 4)
    return write.choose(({minimum: low}, {maximum: high}, {minimum: low, maximum: high}))


def _pattern(write: "Writer", _depth: int) -> Keywords:
    return {"pattern": write.pattern()}


def _format(write: "Writer", _depth: int) -> Keywords:
    return {"format": write.choose(FORMATS)}


def _items(write: "Writer", depth: int) -> Keywords:
    return {"items": write.subschema(depth)}


def _listed_items(write: "Writer", depth: int) -> Keywords:
    first, rest = ("items", "additionalItems")
    if write.edition.draft is Draft.DRAFT_2020_12:
        first, rest = ("prefixItems", "items")
    listed = write.subschemas(write.random.randint(1, 3), depth)
    if write.chance(0.5):
        return {first: listed}
    return {first: listed, rest: _closing(write, depth)}


def _void_additional_items(write: "Writer", depth: int) -> Keywords:
    return {"items": write.subschema(depth), "additionalItems": False}


def _unique(write: "Writer", _depth: int) -> Keywords:
    return {"uniqueItems": write.chance(0.8)}


def _contains(write: "Writer", depth: int) -> Keywords:
    return {"contains": write.subschema(depth)}


def _counted_contains(write: "Writer", depth: int) -> Keywords:
    return _contains(write, depth) | _counts(write, "minContains", "maxContains")


def _unevaluated_items(write: "Writer", depth: int) -> Keywords:
    return {"unevaluatedItems": _closing(write, depth)}


def _properties(write: "Writer", depth: int) -> Keywords:
    names = write.some_names(0, 4)
    keywords: Keywords = {"properties": {name: write.subschema(depth) for name in names}}
    required = [name for name in names if write.chance(0.3)]
    if required and write.chance(0.6):
        keywords["required"] = required
    if write.chance(0.3):
        keywords["additionalProperties"] = _closing(write, depth)
    return keywords


def _required(write: "Writer", _depth: int) -> Keywords:
    # In draft 4 it may not be empty (draft-04 validation, section 5.4.3.1).
    return {"required": write.some_names(int(write.edition.draft is Draft.DRAFT_04), 2)}


def _pattern_properties(write: "Writer", depth: int) -> Keywords:
    patterns = write.random.sample(write.patterns, write.random.randint(0, 2))
    keywords: Keywords = {"patternProperties": {p: write.subschema(depth) for p in patterns}}
    if write.chance(0.3):
        keywords["additionalProperties"] = _closing(write, depth)
    return keywords


def _additional_properties(write: "Writer", depth: int) -> Keywords:
    return {"additionalProperties": _closing(write, depth)}


def _unevaluated_properties(write: "Writer", depth: int) -> Keywords:
    return {"unevaluatedProperties": _closing(write, depth)}


def _closing(write: "Writer", depth: int) -> Any:
    """Return a subschema for the remaining items or properties, often false."""
    # Draft 4 has boolean schemas only here.
    return write.chance(0.4) if write.chance(0.6) else write.subschema(depth)


def _property_names(write: "Writer", depth: int) -> Keywords:
    by_names = {"enum": [*write.names, *write.some_names(0, 1)][: write.random.randint(3, 9)]}
    if write.chance(0.6):
        by_names = {"enum": list(dict.fromkeys(by_names["enum"]))}
        return {"propertyNames": write.choose((by_names, {"pattern": write.pattern()}))}
    return {"propertyNames": write.subschema(depth)}


def _dependent_required(write: "Writer", _depth: int) -> Keywords:
    return {"dependentRequired": {name: write.some_names(0, 2) for name in write.some_names(0, 2)}}


def _dependent_schemas(write: "Writer", depth: int) -> Keywords:
    return {"dependentSchemas": {n: write.subschema(depth) for n in write.some_names(0, 2)}}


def _dependencies(write: "Writer", depth: int) -> Keywords:
    minimum = int(write.edition.draft is Draft.DRAFT_04)
    return {
        "dependencies": {
            name: write.some_names(minimum, 2) if write.chance(0.5) else write.subschema(depth)
            for name in write.some_names(0, 2)
        }
    }


def _enum(write: "Writer", _depth: int) -> Keywords:
    values = [write.value() for _ in range(write.random.randint(1, 5))]
    # Drafts 4 and 6 require distinct values.
    return {"enum": list({spelling(value): value for value in values}.values())}


def _empty_enum(_write: "Writer", _depth: int) -> Keywords:
    return {"enum": []}


def _const(write: "Writer", _depth: int) -> Keywords:
    return {"const": write.value()}


def _annotation(write: "Writer", _depth: int) -> Keywords:
    name = write.choose(("default", "examples", "title", "$comment", "x-unknown", "readOnly"))
    message = {"examples": [write.value()], "title": write.string(), "$comment": write.string()}
    return {name: write.chance(0.5) if name == "readOnly" else message.get(name, write.value())}


def _foreign(*keywords: Keywords) -> Rule:
    """Return a rule for a keyword of other editions that would reject most values."""

    def write_foreign(write: "Writer", _depth: int) -> Keywords:
        return dict(write.choose(keywords))

    return write_foreign


_CLOSED = {"if": True, "then": False, "else": False}
_BEFORE_2019 = ({"dependentRequired": {"a": ["?"]}}, {"unevaluatedProperties": False})
_D4, _D6, _D7, _D19, _D20 = Draft

_TABLE: tuple[tuple[str, Draft, Draft, Rule], ...] = (
    ("number", _D4, _D20, _bounds),
    ("number", _D4, _D20, _exclusive_bounds),
    ("number", _D4, _D20, _multiple_of),
    ("string", _D4, _D20, _counting("minLength", "maxLength")),
    ("string", _D4, _D20, _pattern),
    ("string", _D4, _D20, _format),
    ("array", _D4, _D20, _counting("minItems", "maxItems")),
    ("array", _D4, _D20, _items),
    ("array", _D4, _D20, _listed_items),
    ("array", _D4, _D20, _void_additional_items),
    ("array", _D4, _D20, _unique),
    ("array", _D6, _D20, _contains),
    ("array", _D19, _D20, _counted_contains),
    ("array", _D6, _D20, _counting("minContains", "maxContains")),
    ("array", _D19, _D20, _unevaluated_items),
    ("array", _D19, _D20, unevaluated_items),
    ("object", _D4, _D20, _counting("minProperties", "maxProperties")),
    ("object", _D4, _D20, _properties),
    ("object", _D4, _D20, _properties),
    ("object", _D4, _D20, _properties),
    ("object", _D4, _D20, _required),
    ("object", _D4, _D20, _pattern_properties),
    ("object", _D4, _D20, _additional_properties),
    ("object", _D19, _D20, _unevaluated_properties),
    ("object", _D19, _D20, unevaluated_properties),
    ("object", _D6, _D20, _property_names),
    ("object", _D19, _D20, _dependent_required),
    ("object", _D19, _D20, _dependent_schemas),
    ("object", _D4, _D20, _dependencies),
    ("any", _D4, _D20, branches("allOf")),
    ("any", _D4, _D20, branches("anyOf")),
    ("any", _D4, _D20, branches("oneOf")),
    ("any", _D4, _D20, simple_branches("anyOf")),
    ("any", _D4, _D20, simple_branches("oneOf")),
    ("any", _D4, _D20, simple_branches("oneOf")),
    ("any", _D4, _D20, write_not),
    ("any", _D7, _D20, write_if),
    ("any", _D7, _D20, lone_then),
    ("constant", _D4, _D20, _enum),
    ("constant", _D7, _D20, _empty_enum),
    ("constant", _D6, _D20, _const),
    ("void", _D4, _D20, _annotation),
    ("void", _D4, _D4, _foreign({"const": "?"}, {"contains": False}, {"propertyNames": False})),
    ("void", _D4, _D6, _foreign(_CLOSED, {"if": "nonsense", "then": 1})),
    ("void", _D4, _D7, _foreign(*_BEFORE_2019, {"minContains": 3}, {"$recursiveRef": "#/?"})),
    # jsonschema-rs follows $dynamicRef in 2019-09, which has no such keyword.
    ("void", _D4, _D7, _foreign({"$dynamicRef": "#nowhere"}, {"$anchor": "?"})),
    ("void", _D4, _D19, _foreign({"prefixItems": [False]})),
    ("void", _D6, _D20, _foreign({"id": "http://["}, {"id": {"a": 1}})),
)


@lru_cache(maxsize=64)
def of_kind(kind: str, edition: Edition) -> Sequence[Rule]:
    """Return the rules for values of *kind* in *edition*."""
    kind = "number" if kind == "integer" else kind
    return tuple(
        rule
        for about, since, until, rule in _TABLE
        if about == kind and edition.since(since) and edition.until(until)
    )
