"""Contradictions: demands of a schema that nothing can meet, as far as they are certain.

Only what always applies together is held against each other: the keywords of a subschema,
and those that it leads to through ``$ref`` and ``allOf``. So what is found is never meant,
though much may not be found: in general it is not known to be decidable at any bearable
cost whether a schema admits anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.checks import Checks
from sidecheck_server.core.engines.json_types import has_type, is_number
from sidecheck_server.core.explain.values import literal, quoted
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns import PatternRefused
from sidecheck_server.core.schemas.references import Subschema, Survey

__all__ = ["Contradiction", "contradictions"]

# In steps: a subschema, and a name that is looked for in another.
_SUBSCHEMA = 100
_NAME = 20


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A demand that nothing can meet."""

    code: str
    #: The subschema that makes it.
    here: Subschema
    #: What in that subschema.
    path: tuple[str | int, ...]
    message: str


def contradictions(survey: Survey, limits: Limits, budget: Budget) -> Iterator[Contradiction]:
    """Yield the contradictions in a surveyed schema.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    search = _Search(survey, limits, budget)
    for here in survey.reached.values():
        schema = here.schema
        if _INTERESTING.isdisjoint(schema) or _hides(here):
            continue
        spend(budget, _SUBSCHEMA)
        yield from _bounds(here)
        yield from _values(here)
        yield from search.required(here)


def _hides(here: Subschema) -> bool:
    return "$ref" in here.schema and here.dialect.reference_hides_siblings


def _value(here: Subschema, keyword: str) -> Any:
    """Return the value of *keyword* in *here*, or None where it is absent or not in force."""
    value = here.schema.get(keyword)
    return value if value is not None and keyword in here.dialect.keywords else None


_BOUNDS = (
    ("minLength", "maxLength", "the length of a string"),
    ("minItems", "maxItems", "the number of items"),
    ("minProperties", "maxProperties", "the number of properties"),
    ("minContains", "maxContains", "the number of items that `contains` counts"),
    ("minimum", "maximum", "a number"),
)
_INTERESTING = frozenset(
    {"required", "enum", "const", "exclusiveMinimum", "exclusiveMaximum", "allOf", "$ref"}
).union(low for low, _, _ in _BOUNDS)


def _bounds(here: Subschema) -> Iterator[Contradiction]:
    """Yield the lower bounds that lie above the upper ones."""
    for lower, upper, what in _BOUNDS:
        low, high = _value(here, lower), _value(here, upper)
        if is_number(low) and is_number(high) and low > high:
            said = f"{what} cannot be at least {literal(low)} and at most {literal(high)}"
            yield Contradiction("BOUNDS_IMPOSSIBLE", here, (lower,), said)
            return
    # In draft 4 they are booleans, and say how to read the others.
    above, below = _value(here, "exclusiveMinimum"), _value(here, "exclusiveMaximum")
    low, high = _value(here, "minimum"), _value(here, "maximum")
    for lower, least, upper, most in (
        ("exclusiveMinimum", above, "exclusiveMaximum", below),
        ("exclusiveMinimum", above, "maximum", high),
        ("minimum", low, "exclusiveMaximum", below),
    ):
        if is_number(least) and is_number(most) and least >= most:
            said = f"no number meets {lower} {literal(least)} and {upper} {literal(most)}"
            yield Contradiction("BOUNDS_IMPOSSIBLE", here, (lower,), said)
            return


def _values(here: Subschema) -> Iterator[Contradiction]:
    """Yield the lists of constants of which none has the type that is demanded."""
    types = _value(here, "type")
    names = [types] if isinstance(types, str) else types
    if not isinstance(names, list):
        return
    draft = here.dialect.draft
    listed = _value(here, "enum")
    if isinstance(listed, list) and listed and not _any_has(listed, names, draft):
        said = f"none of the values has the type that is demanded, {_or(names)}"
        yield Contradiction("VALUES_IMPOSSIBLE", here, ("enum",), said)
    if "const" in here.schema and "const" in here.dialect.keywords:
        value = here.schema["const"]
        if not _any_has([value], names, draft):
            said = f"{literal(value)} has not the type that is demanded, {_or(names)}"
            yield Contradiction("VALUES_IMPOSSIBLE", here, ("const",), said)


def _any_has(values: list[Any], names: list[Any], draft: Any) -> bool:
    return any(has_type(value, str(name), draft) for value in values for name in names)


def _or(names: list[Any]) -> str:
    return " or ".join(str(name)[:20] for name in names[:7])


class _Search:
    """Looks for required properties that an object cannot have."""

    def __init__(self, survey: Survey, limits: Limits, budget: Budget) -> None:
        self._survey = survey
        self._budget = budget
        self._checks = Checks(
            assert_formats=False, pattern_length=limits.pattern_length, allow_backtracking=False
        )
        self._together: dict[int, tuple[Subschema, ...]] = {}

    def required(self, here: Subschema) -> Iterator[Contradiction]:
        """Yield the names that *here*, or what always applies with it, requires and forbids."""
        if not _admits_objects(here):
            return
        together = self._closure(here)
        for owner in together:
            names = _value(owner, "required")
            for index, name in enumerate(names if isinstance(names, list) else ()):
                closer = self._forbids(name, here, together) if isinstance(name, str) else None
                if closer is not None and not self._is_of_a_part(here, owner, closer):
                    shown = f"the property {quoted(name)} is required, and cannot be there"
                    yield Contradiction(
                        "REQUIRED_IMPOSSIBLE",
                        here,
                        ("required", index) if owner is here else (),
                        f"{shown}: {_why(closer, name)}",
                    )

    def _is_of_a_part(self, here: Subschema, owner: Subschema, closer: Subschema) -> bool:
        """Return whether a part of *here* contains the contradiction, which is told there."""
        both = {id(owner.schema), id(closer.schema)}
        return any(
            both <= {id(each.schema) for each in self._closure(part)} for part in self._steps(here)
        )

    def _forbids(
        self, name: str, here: Subschema, together: tuple[Subschema, ...]
    ) -> Subschema | None:
        """Return what among *together* makes sure that no object has *name*."""
        spend(self._budget, _NAME * len(together))
        for one in together:
            properties = _value(one, "properties")
            if isinstance(properties, dict) and name in properties:
                if _is_false(properties[name]):
                    return one
            elif _is_false(_value(one, "additionalProperties")) and not self._by_pattern(one, name):
                return one
        if _is_false(_value(here, "unevaluatedProperties")) and all(
            self._leaves_unevaluated(one, here, name) for one in together
        ):
            return here
        return None

    def _leaves_unevaluated(self, one: Subschema, here: Subschema, name: str) -> bool:
        """Return whether *one* certainly does not evaluate the property *name*."""
        if any(keyword in one.schema for keyword in _MAY_EVALUATE):
            return False
        if one is not here and "unevaluatedProperties" in one.schema:
            return False
        if any(keyword in one.schema for keyword in ("$dynamicRef", "$recursiveRef")):
            return False
        properties = _value(one, "properties")
        known = isinstance(properties, dict) and name in properties
        return not known and not self._by_pattern(one, name)

    def _by_pattern(self, one: Subschema, name: str) -> bool:
        """Return whether a pattern of *one* admits *name*, or may do so."""
        patterns = _value(one, "patternProperties")
        for pattern, schema in patterns.items() if isinstance(patterns, dict) else ():
            try:
                if not _is_false(schema) and self._checks.matches(pattern, name, self._budget):
                    return True
            except PatternRefused:
                return True
        return False

    def _closure(self, here: Subschema) -> tuple[Subschema, ...]:
        """Return *here* and all that always applies to a value with it."""
        known = self._together.get(id(here.schema))
        if known is None:
            found = {id(here.schema): here}
            waiting = [here]
            while waiting:
                for one in self._steps(waiting.pop()):
                    if id(one.schema) not in found:
                        spend(self._budget, _SUBSCHEMA)
                        found[id(one.schema)] = one
                        waiting.append(one)
            known = self._together[id(here.schema)] = tuple(found.values())
        return known

    def _steps(self, here: Subschema) -> Iterator[Subschema]:
        reference = self._survey.references.get((id(here.schema), "$ref"))
        if reference is not None and reference.static:
            target = self._survey.reached.get(id(reference.target))
            if target is not None:
                yield target
        if not _hides(here):
            branches = _value(here, "allOf")
            for each in branches if isinstance(branches, list) else ():
                one = self._survey.reached.get(id(each))
                if one is not None:
                    yield one


_MAY_EVALUATE = (
    *("additionalProperties", "anyOf", "oneOf", "if"),
    *("dependentSchemas", "dependencies"),
)


def _is_false(schema: Any) -> bool:
    """Return whether *schema* refuses everything."""
    if isinstance(schema, dict):
        return schema.get("not") in ({}, True) and "$ref" not in schema
    return schema is False


def _admits_objects(here: Subschema) -> bool:
    types = _value(here, "type")
    return types is None or types == "object" or (isinstance(types, list) and "object" in types)


def _why(closer: Subschema, name: str) -> str:
    properties = _value(closer, "properties")
    if isinstance(properties, dict) and name in properties:
        return "its own schema refuses every value"
    return "the object admits no properties but those that it names"
