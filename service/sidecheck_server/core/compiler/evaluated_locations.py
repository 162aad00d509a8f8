"""Which members and items are evaluated beside ``unevaluated*``, where that is static.

``unevaluatedProperties`` and ``unevaluatedItems`` (2020-12 core, section 11) depend
on what succeeded beside them. Where only ``properties``, ``items`` and their kin are
beside them, directly or through ``allOf`` and ``$ref``, what they evaluate does not
depend on the payload, and the keyword is an ordinary closed object or array.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from sidecheck_server.core.schemas.canonical import CannotLowerError
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.schemas.references import Subschema, Survey

__all__ = ["EvaluatedProperties", "evaluated_items", "evaluated_properties"]

# Applicators whose success, and so what they evaluate, depends on the payload.
_CONDITIONAL = frozenset({"anyOf", "oneOf", "if", "dependentSchemas", "dependencies"})


@dataclass(frozen=True, slots=True)
class EvaluatedProperties:
    """The members that are evaluated: those of these names or matching these patterns."""

    names: tuple[str, ...]
    patterns: tuple[str, ...]


def evaluated_properties(here: Subschema, survey: Survey) -> EvaluatedProperties | None:
    """Return the members evaluated beside ``unevaluatedProperties``; None for all of them.

    Raises:
        CannotLowerError: it depends on the payload.
    """
    names: dict[str, None] = {}
    patterns: dict[str, None] = {}
    for beside, in_force in _beside(here, survey, "unevaluatedProperties"):
        own = beside is here
        if "additionalProperties" in in_force or ("unevaluatedProperties" in in_force and not own):
            return None
        for keyword, found in (("properties", names), ("patternProperties", patterns)):
            members = beside.schema.get(keyword)
            if keyword in in_force and isinstance(members, dict):
                found.update(dict.fromkeys(members))
    return EvaluatedProperties(tuple(names), tuple(patterns))


def evaluated_items(here: Subschema, survey: Survey) -> int | None:
    """Return how many first items are evaluated beside ``unevaluatedItems``; None for all.

    Raises:
        CannotLowerError: it depends on the payload.
    """
    count = 0
    for beside, in_force in _beside(here, survey, "unevaluatedItems"):
        if "contains" in in_force and beside.dialect.draft is Draft.DRAFT_2020_12:
            # Items that match count as evaluated (2020-12 core, section 10.3.1.3).
            raise CannotLowerError("unevaluatedItems beside contains")
        # The items before 2020-12 are its prefixItems, if they are listed.
        split = beside.dialect.draft is Draft.DRAFT_2020_12
        first, rest = ("prefixItems", "items") if split else ("items", "additionalItems")
        listed = beside.schema[first] if first in in_force else []
        if not isinstance(listed, list):
            return None
        if rest in in_force and (split or listed):
            return None
        if "unevaluatedItems" in in_force and beside is not here:
            return None
        count = max(count, len(listed))
    return count


def _beside(here: Subschema, survey: Survey, keyword: str) -> Iterator[tuple[Subschema, Set[str]]]:
    """Yield *here* and the subschemas that judge the same place with it, always.

    With each come the names of its keywords that are in force.
    """
    stack, seen = [here], set[int]()
    while stack:
        beside = stack.pop()
        if id(beside.schema) in seen:
            continue
        seen.add(id(beside.schema))
        if "$ref" in beside.schema and beside.dialect.reference_hides_siblings:
            in_force: Set[str] = {"$ref"}
        else:
            in_force = beside.schema.keys() & beside.dialect.keywords
        if in_force & _CONDITIONAL:
            raise CannotLowerError(f"{keyword} beside a conditional applicator")
        yield beside, in_force
        branches = beside.schema.get("allOf") if "allOf" in in_force else None
        targets = list(branches) if isinstance(branches, list) else []
        for reference in ("$ref", "$dynamicRef", "$recursiveRef"):
            if reference in in_force:
                found = survey.references[id(beside.schema), reference]
                if not found.static:
                    raise CannotLowerError(f"{keyword} beside a dynamic reference")
                targets.append(found.target)
        stack.extend(survey.reached[id(target)] for target in targets if isinstance(target, dict))
