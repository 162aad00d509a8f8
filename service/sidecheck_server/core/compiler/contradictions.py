"""Contradictions in schemas: demands that no value can meet.

Only demands that always apply together are compared: the keywords of a subschema, and
those that it leads to through ``$ref`` and ``allOf``. So every reported contradiction
is certain, but many are not found: whether a schema accepts any value at all is not
known to be decidable at a bearable cost.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.engines.text_checks import TextChecks
from sidecheck_server.core.explain.values import format_literal, quote
from sidecheck_server.core.json_values import has_type, is_number
from sidecheck_server.core.limits import Budget, Limits, spend
from sidecheck_server.core.patterns import PatternError
from sidecheck_server.core.schemas.references import Subschema, Survey

__all__ = ["Contradiction", "find_contradictions"]

# In steps: a subschema, and looking up a name in another.
_SUBSCHEMA = 100
_NAME = 20


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A demand that no value can meet."""

    #: The code of the schema warning.
    code: str
    subschema: Subschema
    #: The path of the demand in the subschema.
    path: tuple[str | int, ...]
    message: str


def find_contradictions(survey: Survey, limits: Limits, budget: Budget) -> Iterator[Contradiction]:
    """Yield the contradictions in a surveyed schema.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    required = _RequiredSearch(survey, limits, budget)
    for subschema in survey.reached.values():
        schema = subschema.schema
        if _INTERESTING.isdisjoint(schema) or _hides_siblings(subschema):
            continue
        spend(budget, _SUBSCHEMA)
        yield from _compare_bounds(subschema)
        yield from _compare_constants(subschema)
        yield from required.search(subschema)


def _hides_siblings(subschema: Subschema) -> bool:
    return "$ref" in subschema.schema and subschema.dialect.reference_hides_siblings


def _value(subschema: Subschema, keyword: str) -> Any:
    """Return the value of *keyword* in *subschema*, or None if it is absent or not in force."""
    value = subschema.schema.get(keyword)
    return value if value is not None and keyword in subschema.dialect.keywords else None


_BOUNDS = (
    ("minLength", "maxLength", "the length of a string"),
    ("minItems", "maxItems", "the number of items"),
    ("minProperties", "maxProperties", "the number of properties"),
    ("minContains", "maxContains", "the number of items that match `contains`"),
    ("minimum", "maximum", "a number"),
)
_INTERESTING = frozenset(
    {"required", "enum", "const", "exclusiveMinimum", "exclusiveMaximum", "allOf", "$ref"}
).union(lower for lower, _, _ in _BOUNDS)


def _compare_bounds(subschema: Subschema) -> Iterator[Contradiction]:
    """Yield the lower bounds that exceed the upper ones."""
    for lower, upper, quantity in _BOUNDS:
        low, high = _value(subschema, lower), _value(subschema, upper)
        if is_number(low) and is_number(high) and low > high:
            message = (
                f"{quantity} cannot be at least {format_literal(low)} "
                f"and at most {format_literal(high)}"
            )
            yield Contradiction("BOUNDS_IMPOSSIBLE", subschema, (lower,), message)
            return
    # In draft 4 the exclusive bounds are booleans, and is_number rejects them.
    above, below = _value(subschema, "exclusiveMinimum"), _value(subschema, "exclusiveMaximum")
    low, high = _value(subschema, "minimum"), _value(subschema, "maximum")
    for lower, least, upper, most in (
        ("exclusiveMinimum", above, "exclusiveMaximum", below),
        ("exclusiveMinimum", above, "maximum", high),
        ("minimum", low, "exclusiveMaximum", below),
    ):
        if is_number(least) and is_number(most) and least >= most:
            message = (
                f"no number meets {lower} {format_literal(least)} "
                f"and {upper} {format_literal(most)}"
            )
            yield Contradiction("BOUNDS_IMPOSSIBLE", subschema, (lower,), message)
            return


def _compare_constants(subschema: Subschema) -> Iterator[Contradiction]:
    """Yield the lists of constants of which none has the required type."""
    types = _value(subschema, "type")
    names = [types] if isinstance(types, str) else types
    if not isinstance(names, list):
        return
    draft = subschema.dialect.draft
    values = _value(subschema, "enum")
    if isinstance(values, list) and values and not _any_has_type(values, names, draft):
        message = f"none of the values has the required type, {_join_types(names)}"
        yield Contradiction("VALUES_IMPOSSIBLE", subschema, ("enum",), message)
    if "const" in subschema.schema and "const" in subschema.dialect.keywords:
        value = subschema.schema["const"]
        if not _any_has_type([value], names, draft):
            message = (
                f"{format_literal(value)} does not have the required type, {_join_types(names)}"
            )
            yield Contradiction("VALUES_IMPOSSIBLE", subschema, ("const",), message)


def _any_has_type(values: list[Any], names: list[Any], draft: Any) -> bool:
    return any(has_type(value, str(name), draft) for value in values for name in names)


def _join_types(names: list[Any]) -> str:
    return " or ".join(str(name)[:20] for name in names[:7])


class _RequiredSearch:
    """Search for required properties that are forbidden."""

    def __init__(self, survey: Survey, limits: Limits, budget: Budget) -> None:
        self._survey = survey
        self._budget = budget
        self._checks = TextChecks(replace(limits, allow_backtracking=False), assert_formats=False)
        self._closures: dict[int, tuple[Subschema, ...]] = {}

    def search(self, subschema: Subschema) -> Iterator[Contradiction]:
        """Yield the names that are both required and forbidden where *subschema* applies."""
        if not _admits_objects(subschema):
            return
        closure = self._closure(subschema)
        for owner in closure:
            names = _value(owner, "required")
            for index, name in enumerate(names if isinstance(names, list) else ()):
                if not isinstance(name, str):
                    continue
                forbidding = self._find_forbidding(name, subschema, closure)
                if forbidding is not None and not self._is_in_a_part(subschema, owner, forbidding):
                    yield Contradiction(
                        "REQUIRED_IMPOSSIBLE",
                        subschema,
                        ("required", index) if owner is subschema else (),
                        f"the property {quote(name)} is required but cannot be present: "
                        f"{_reason(forbidding, name)}",
                    )

    def _is_in_a_part(self, subschema: Subschema, owner: Subschema, forbidding: Subschema) -> bool:
        """Return whether a part of *subschema* has the contradiction, and so reports it."""
        both = {id(owner.schema), id(forbidding.schema)}
        return any(
            both <= {id(member.schema) for member in self._closure(part)}
            for part in self._parts(subschema)
        )

    def _find_forbidding(
        self, name: str, subschema: Subschema, closure: tuple[Subschema, ...]
    ) -> Subschema | None:
        """Return the member of *closure* by which no object can have *name*, or None."""
        spend(self._budget, _NAME * len(closure))
        for member in closure:
            properties = _value(member, "properties")
            if isinstance(properties, dict) and name in properties:
                if _is_false(properties[name]):
                    return member
            elif _is_false(_value(member, "additionalProperties")) and not self._admits_by_pattern(
                member, name
            ):
                return member
        if _is_false(_value(subschema, "unevaluatedProperties")) and all(
            self._leaves_unevaluated(member, subschema, name) for member in closure
        ):
            return subschema
        return None

    def _leaves_unevaluated(self, member: Subschema, subschema: Subschema, name: str) -> bool:
        """Return whether *member* certainly does not evaluate the property *name*."""
        if any(keyword in member.schema for keyword in _MAY_EVALUATE):
            return False
        if member is not subschema and "unevaluatedProperties" in member.schema:
            return False
        if any(keyword in member.schema for keyword in ("$dynamicRef", "$recursiveRef")):
            return False
        properties = _value(member, "properties")
        declared = isinstance(properties, dict) and name in properties
        return not declared and not self._admits_by_pattern(member, name)

    def _admits_by_pattern(self, member: Subschema, name: str) -> bool:
        """Return whether a pattern of *member* admits *name*, or may do so."""
        patterns = _value(member, "patternProperties")
        for pattern, schema in patterns.items() if isinstance(patterns, dict) else ():
            try:
                if not _is_false(schema) and self._checks.matches(pattern, name, self._budget):
                    return True
            except PatternError:
                return True
        return False

    def _closure(self, subschema: Subschema) -> tuple[Subschema, ...]:
        """Return *subschema* and all subschemas that always apply with it."""
        known = self._closures.get(id(subschema.schema))
        if known is None:
            members = {id(subschema.schema): subschema}
            pending = [subschema]
            while pending:
                for part in self._parts(pending.pop()):
                    if id(part.schema) not in members:
                        spend(self._budget, _SUBSCHEMA)
                        members[id(part.schema)] = part
                        pending.append(part)
            known = self._closures[id(subschema.schema)] = tuple(members.values())
        return known

    def _parts(self, subschema: Subschema) -> Iterator[Subschema]:
        """Yield the subschemas that ``$ref`` and ``allOf`` of *subschema* apply."""
        reference = self._survey.references.get((id(subschema.schema), "$ref"))
        if reference is not None and reference.static:
            target = self._survey.reached.get(id(reference.target))
            if target is not None:
                yield target
        if not _hides_siblings(subschema):
            branches = _value(subschema, "allOf")
            for branch in branches if isinstance(branches, list) else ():
                part = self._survey.reached.get(id(branch))
                if part is not None:
                    yield part


_MAY_EVALUATE = (
    *("additionalProperties", "anyOf", "oneOf", "if"),
    *("dependentSchemas", "dependencies"),
)


def _is_false(schema: Any) -> bool:
    """Return whether *schema* rejects every value."""
    if isinstance(schema, dict):
        return schema.get("not") in ({}, True) and "$ref" not in schema
    return schema is False


def _admits_objects(subschema: Subschema) -> bool:
    types = _value(subschema, "type")
    return types is None or types == "object" or (isinstance(types, list) and "object" in types)


def _reason(forbidding: Subschema, name: str) -> str:
    properties = _value(forbidding, "properties")
    if isinstance(properties, dict) and name in properties:
        return "its own schema rejects every value"
    return "the object allows only the properties that it names"
