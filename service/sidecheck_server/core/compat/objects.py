"""What the subschemas that apply to one object together say of its properties."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.schemas.references import REFERENCES, Subschema, Survey

__all__ = ["KnownProperties", "find_object"]

_SUBSCHEMA = 40


@dataclass(slots=True)
class KnownProperties:
    """The properties that a schema knows, as in `core.repair.unknown`."""

    names: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    #: Whether a subschema that applies in any case has ``properties``.
    declares: bool = False
    #: Whether one says itself what becomes of other properties.
    is_open: bool = False


def find_object(survey: Survey, subschema: Subschema, budget: Budget) -> KnownProperties:
    """Return what *subschema* and those that apply in its place say together.

    ``is_open`` is also true of an object that a subschema closes: there is nothing to add.

    Raises:
        Exhausted: *budget* is spent.
    """
    known = KnownProperties()
    pending, visited = [(subschema, True)], set[tuple[int, bool]]()
    while pending:
        current, always = pending.pop()
        if (id(current.schema), always) in visited:
            continue
        visited.add((id(current.schema), always))
        spend(budget, _SUBSCHEMA)
        pending += [(target, always) for target in _targets(survey, current)]
        if "$ref" in current.schema and current.dialect.reference_hides_siblings:
            continue
        keywords = {
            name: value
            for name, value in current.schema.items()
            if name in current.dialect.keywords
        }
        _add(known, keywords)
        known.declares |= always and "properties" in keywords
        pending += [
            (survey.reached[id(value)], always and name == "allOf")
            for name, value in _beside(keywords)
            if isinstance(value, dict) and id(value) in survey.reached
        ]
    return known


def _targets(survey: Survey, subschema: Subschema) -> Iterator[Subschema]:
    for keyword in REFERENCES:
        reference = survey.references.get((id(subschema.schema), keyword))
        if reference is not None and isinstance(reference.target, dict):
            yield survey.reached[id(reference.target)]


def _add(known: KnownProperties, keywords: dict[str, Any]) -> None:
    known.is_open |= "additionalProperties" in keywords or "unevaluatedProperties" in keywords
    for name in ("properties", "dependentSchemas", "dependentRequired", "dependencies"):
        known.names |= dict.fromkeys(keywords.get(name, ()))
    known.names |= dict.fromkeys(keywords.get("required") or ())
    for name in ("dependentRequired", "dependencies"):
        for names in keywords.get(name, {}).values():
            if isinstance(names, list):
                known.names |= dict.fromkeys(names)
    known.patterns |= dict.fromkeys(keywords.get("patternProperties", ()))


def _beside(keywords: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the subschemas that may apply in the same place, with their keywords."""
    for name in ("allOf", "anyOf", "oneOf"):
        yield from ((name, branch) for branch in keywords.get(name, ()))
    if "if" in keywords:
        yield from ((name, keywords[name]) for name in ("then", "else") if name in keywords)
    for name in ("dependentSchemas", "dependencies"):
        yield from ((name, schema) for schema in keywords.get(name, {}).values())
