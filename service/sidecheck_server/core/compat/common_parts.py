"""Conditions and choices that two normal forms have in common.

A form is a conjunction. If one without a common part admits all that the other admits
without it, the same is true with it. So a proof about one property need not be one about
many conditions that did not change, whose combinations are too many.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.json_values import canonical_json

__all__ = ["without_common_parts"]

_DEFINITIONS = ("$defs", "definitions")
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""Keywords whose meaning depends on all others of the same place."""
_MAPS = ("dependentRequired", "dependentSchemas", "dependencies")
_CONDITION = ("if", "then", "else")


def without_common_parts(
    one: NormalForm, other: NormalForm
) -> tuple[NormalForm, NormalForm] | None:
    """Return both forms without what they have in common; None if that is nothing."""
    if not isinstance(one.schema, dict) or not isinstance(other.schema, dict):
        return None
    if not _UNEVALUATED.isdisjoint({*one.schema, *other.schema}):
        return None
    # What is referred to must be the same, too.
    if _definitions(one.schema) != _definitions(other.schema):
        return None
    common = {*_parts(one.schema)} & {*_parts(other.schema)}
    if not common:
        return None
    return (
        replace(one, schema=_without(one.schema, common)),
        replace(other, schema=_without(other.schema, common)),
    )


def _definitions(schema: dict[str, Any]) -> list[bytes]:
    return [canonical_json(schema.get(name)) for name in _DEFINITIONS]


def _parts(schema: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    for branch in schema.get("allOf", ()):
        yield "allOf", canonical_json(branch)
    for name in _MAPS:
        for key, value in schema.get(name, {}).items():
            yield name, canonical_json([key, value])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            yield name, canonical_json(schema[name])
    if "if" in schema:
        yield "if", _condition(schema)


def _without(schema: dict[str, Any], common: set[tuple[str, bytes]]) -> dict[str, Any]:
    rest = dict(schema)
    if "allOf" in rest:
        rest["allOf"] = [
            branch for branch in rest["allOf"] if ("allOf", canonical_json(branch)) not in common
        ]
    for name in _MAPS:
        if name in rest:
            rest[name] = {
                key: value
                for key, value in rest[name].items()
                if (name, canonical_json([key, value])) not in common
            }
    for name in ("anyOf", "oneOf"):
        if name in rest and (name, canonical_json(rest[name])) in common:
            del rest[name]
    if "if" in rest and ("if", _condition(rest)) in common:
        for name in _CONDITION:
            rest.pop(name, None)
    for name in ("allOf", *_MAPS):
        if name in rest and not rest[name]:
            del rest[name]
    return rest


def _condition(schema: dict[str, Any]) -> bytes:
    return canonical_json({name: schema[name] for name in _CONDITION if name in schema})
