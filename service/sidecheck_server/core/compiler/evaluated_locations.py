"""Properties and items evaluated beside ``unevaluated*``, where that is static.

``unevaluatedProperties`` and ``unevaluatedItems`` (2020-12 core, section 11) depend on
the success of the keywords beside them. Where those are only ``properties``, ``items``
and the like, directly or through ``allOf`` and ``$ref``, the evaluated names and items do
not depend on the payload, and the keyword amounts to a closed object or array.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from sidecheck_server.core.schemas.canonical import CannotLowerError
from sidecheck_server.core.schemas.references import Subschema, Survey
from sidecheck_server.core.types import Draft

__all__ = ["EvaluatedProperties", "evaluated_items", "evaluated_properties"]

# Applicators whose success, and so the locations that they evaluate, depends on the payload.
_CONDITIONAL = frozenset({"anyOf", "oneOf", "if", "dependentSchemas", "dependencies"})


@dataclass(frozen=True, slots=True)
class EvaluatedProperties:
    """The evaluated properties: those with one of *names* or matching one of *patterns*."""

    names: tuple[str, ...]
    patterns: tuple[str, ...]


def evaluated_properties(subschema: Subschema, survey: Survey) -> EvaluatedProperties | None:
    """Return the properties evaluated beside ``unevaluatedProperties``; None for all of them.

    Raises:
        CannotLowerError: it depends on the payload.
    """
    names: dict[str, None] = {}
    patterns: dict[str, None] = {}
    for sibling, in_force in _siblings(subschema, survey, "unevaluatedProperties"):
        own = sibling is subschema
        if "additionalProperties" in in_force or ("unevaluatedProperties" in in_force and not own):
            return None
        for keyword, collected in (("properties", names), ("patternProperties", patterns)):
            value = sibling.schema.get(keyword)
            if keyword in in_force and isinstance(value, dict):
                collected.update(dict.fromkeys(value))
    return EvaluatedProperties(tuple(names), tuple(patterns))


def evaluated_items(subschema: Subschema, survey: Survey) -> int | None:
    """Return how many items from the start are evaluated beside ``unevaluatedItems``.

    None for all of them.

    Raises:
        CannotLowerError: it depends on the payload.
    """
    count = 0
    for sibling, in_force in _siblings(subschema, survey, "unevaluatedItems"):
        if "contains" in in_force and sibling.dialect.draft is Draft.DRAFT_2020_12:
            # Matching items are evaluated (2020-12 core, section 10.3.1.3).
            raise CannotLowerError("unevaluatedItems beside contains")
        # Before 2020-12 a list in items is what prefixItems is now.
        has_prefix_items = sibling.dialect.draft is Draft.DRAFT_2020_12
        prefix, rest = (
            ("prefixItems", "items") if has_prefix_items else ("items", "additionalItems")
        )
        listed = sibling.schema[prefix] if prefix in in_force else []
        if not isinstance(listed, list):
            return None
        if rest in in_force and (has_prefix_items or listed):
            return None
        if "unevaluatedItems" in in_force and sibling is not subschema:
            return None
        count = max(count, len(listed))
    return count


def _siblings(
    subschema: Subschema, survey: Survey, keyword: str
) -> Iterator[tuple[Subschema, Set[str]]]:
    """Yield *subschema* and those that always apply with it, with their keywords in force."""
    stack, seen = [subschema], set[int]()
    while stack:
        sibling = stack.pop()
        if id(sibling.schema) in seen:
            continue
        seen.add(id(sibling.schema))
        if "$ref" in sibling.schema and sibling.dialect.reference_hides_siblings:
            in_force: Set[str] = {"$ref"}
        else:
            in_force = sibling.schema.keys() & sibling.dialect.keywords
        if in_force & _CONDITIONAL:
            raise CannotLowerError(f"{keyword} beside a conditional applicator")
        yield sibling, in_force
        branches = sibling.schema.get("allOf") if "allOf" in in_force else None
        targets = list(branches) if isinstance(branches, list) else []
        for reference_keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if reference_keyword in in_force:
                reference = survey.references[id(sibling.schema), reference_keyword]
                if not reference.static:
                    raise CannotLowerError(f"{keyword} beside a dynamic reference")
                targets.append(reference.target)
        stack.extend(survey.reached[id(target)] for target in targets if isinstance(target, dict))
