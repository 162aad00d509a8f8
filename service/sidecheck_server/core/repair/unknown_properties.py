"""Unknown properties: properties that a schema does not declare.

Most tool schemas leave objects open, as is the default in JSON Schema, but tools read only
the declared properties. So a misspelt name is valid, and its value is silently ignored.

A property is unknown if the subschemas that apply to its object, in the sense of
``unevaluatedProperties`` (2020-12 core, section 11.3), satisfy all of these conditions:

- one of them closes the object or declares ``properties``, not only under ``if``;
- none of them opens it with a value of ``additionalProperties`` or
  ``unevaluatedProperties`` other than ``false``;
- none of them names the property in ``properties``, by a pattern, or among required or
  dependent names.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sidecheck_server.core.engines.application import (
    AppliedSchema,
    Container,
    Path,
    matches_name_pattern,
    walk_containers,
)
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.explain.messages import explain_missing
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES, find_nearest
from sidecheck_server.core.explain.values import Values, quote
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.repair.edits import ABSENT, apply_edits
from sidecheck_server.core.repair.types import UnknownProperty
from sidecheck_server.core.types import (
    Change,
    ChangeRule,
    JsonValue,
    Severity,
    Violation,
    as_pointer,
)

__all__ = ["find_unknown_properties", "report_unknown_properties", "strip_unknown_properties"]

# Steps for looking up a name in a schema, for reporting one, and for comparing two.
_LOOK_UP = 15
_REPORT = 300
_COMPARISON = 150

_CLOSING = ("additionalProperties", "unevaluatedProperties")


def find_unknown_properties(
    engine: CompleteEngine, value: JsonValue, budget: Budget, *, hide_values: bool = False
) -> Iterator[UnknownProperty]:
    """Yield the properties in *value* that the schema neither declares nor forbids.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    values = Values(hidden=hide_values)
    for unknown in _find_unknown(engine, value, budget):
        if not unknown.forbidden:
            nearest = unknown.find_nearest(budget)
            message = f"the schema does not know the {values.property_named(unknown.name)}"
            yield UnknownProperty(
                as_pointer(unknown.path),
                as_pointer(unknown.schema_path),
                f"{message}; did you mean {quote(nearest)}?" if nearest else message,
                nearest,
            )


def strip_unknown_properties(
    engine: CompleteEngine, value: JsonValue, budget: Budget, *, hide_values: bool = False
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Remove unknown properties from *value*; return the result and the changes.

    This includes unknown properties that the schema forbids. A removal may change which
    branch of a choice applies, so the search is repeated until it finds none.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    values = Values(hidden=hide_values)
    changes: list[Change] = []
    while True:
        # Removing a property also removes the unknown properties inside it.
        removed: dict[Path, _Unknown] = {}
        for unknown in _find_unknown(engine, value, budget):
            path = unknown.path
            if not any(path[:length] in removed for length in range(1, len(path))):
                removed[path] = unknown
        if not removed:
            return value, tuple(changes)
        value = apply_edits(value, dict.fromkeys(removed, ABSENT), budget)
        changes += [_describe_removal(unknown, values, budget) for unknown in removed.values()]


def _describe_removal(unknown: "_Unknown", values: Values, budget: Budget) -> Change:
    nearest = unknown.find_nearest(budget)
    message = f"removed the {values.property_named(unknown.name)}, which the schema does not know"
    return Change(
        as_pointer(unknown.path),
        ChangeRule.UNKNOWN_PROPERTY_REMOVED,
        as_pointer(unknown.schema_path),
        f"{message}; it may be a misspelling of {quote(nearest)}" if nearest else message,
    )


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A property that no applied subschema names."""

    container: Container
    name: str
    #: The path of the keyword that closes the object or declares its properties.
    schema_path: Path
    #: Whether the schema itself rejects the property.
    forbidden: bool

    @property
    def path(self) -> Path:
        """The path of the property."""
        return (*self.container.path, self.name)

    def find_nearest(self, budget: Budget) -> str:
        """Return the declared, absent name that it may be a misspelling of, or ""."""
        declared = [schema.get("properties", ()) for schema in self.container.applied]
        count = sum(map(len, declared))
        spend(budget, count + _COMPARISON * min(count, MOST_CANDIDATES))
        names = dict.fromkeys(chain.from_iterable(declared))
        return find_nearest(self.name, (name for name in names if name not in self.container.value))


def _find_unknown(engine: CompleteEngine, value: JsonValue, budget: Budget) -> Iterator[_Unknown]:
    for container in walk_containers(engine, value, budget):
        if isinstance(container.value, dict) and container.value:
            yield from _find_unknown_in(container, budget)


def _find_unknown_in(container: Container, budget: Budget) -> Iterator[_Unknown]:
    applied = container.applied
    if any(schema.get(keyword, False) is not False for schema in applied for keyword in _CLOSING):
        return
    closing = [
        (schema, keyword)
        for schema in applied
        for keyword in _CLOSING
        if keyword in schema.in_force
    ]
    declaring = [
        (schema, "properties")
        for schema in applied
        if "properties" in schema.in_force and not schema.is_condition
    ]
    if not closing and not declaring:
        return
    schema, keyword = (declaring or closing)[0]
    spend(budget, _LOOK_UP * len(container.value) * len(applied))
    for name in container.value:
        if not any(_names_property(schema, name) for schema in applied):
            spend(budget, _REPORT)
            forbidden = bool(closing) or _is_rejected_name(name, container)
            yield _Unknown(container, name, (*schema.path, keyword), forbidden)


def _is_rejected_name(name: str, container: Container) -> bool:
    return any(
        "propertyNames" in schema.in_force
        and not accepts(schema.validator, name, schema.schema["propertyNames"])
        for schema in container.applied
    )


def _names_property(schema: AppliedSchema, name: str) -> bool:
    """Return whether a keyword of *schema* names the property *name*."""
    named = (
        names_in(schema.schema[keyword])
        for keyword, names_in in _NAMING
        if keyword in schema.in_force
    )
    return any(name in names for names in named) or matches_name_pattern(schema, name)


def _own_names(value: Collection[str]) -> Collection[str]:
    return value


def _own_and_dependent_names(value: Mapping[str, Any]) -> Collection[str]:
    dependents = (names for names in value.values() if isinstance(names, list))
    return {*value, *chain.from_iterable(dependents)}


_NAMING: tuple[tuple[str, Callable[[Any], Collection[str]]], ...] = (
    ("properties", _own_names),
    ("required", _own_names),
    ("dependentRequired", _own_and_dependent_names),
    ("dependentSchemas", _own_names),
    ("dependencies", _own_and_dependent_names),
)
"""Keywords that name properties, each with a function that lists the names in its value."""


_CODE = "UNKNOWN_PROPERTY"


def report_unknown_properties(
    properties: Iterable[UnknownProperty], severity: Severity, violations: Iterable[Violation]
) -> Iterator[Violation]:
    """Yield violations for *properties*, unless *violations* already mention them.

    A violation of ``required`` mentions the property that may be a misspelling.
    """
    missing = [violation for violation in violations if violation.keyword == "required"]
    for unknown in properties:
        if not _is_mentioned(unknown, missing):
            yield Violation(
                instance_location=unknown.pointer,
                keyword_location=unknown.keyword_location,
                keyword="properties",
                code=_CODE,
                message=unknown.message,
                severity=severity,
                suggestion=unknown.suggestion,
            )


def _is_mentioned(unknown: UnknownProperty, missing: Iterable[Violation]) -> bool:
    """Return whether *missing* has a violation for the name that *unknown* misspells."""
    if not unknown.suggestion:
        return False
    location = unknown.pointer.rpartition("/")[0]
    text = explain_missing(unknown.suggestion)
    return any(
        violation.instance_location == location and violation.message.startswith(text)
        for violation in missing
    )
