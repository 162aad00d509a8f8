"""Where in the schemas evaluation stands: the resource, and those entered before it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.budget import Budget
from sidecheck_server.core.engines.text_checks import TextChecks
from sidecheck_server.core.engines.weights import application_steps
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.resources import Resource, Resources
from sidecheck_server.core.types import Draft, JsonValue

__all__ = [
    "KeywordFunction",
    "PreparedSchema",
    "PreparedSchemas",
    "Scope",
    "prepare_schema",
    "scope_of",
]

KeywordFunction = Callable[[Any, Any, Any, Any], Iterable[Any]]
"""Yields the faults of a keyword, given validator, its value, the payload's, the schema."""


@dataclass(frozen=True, slots=True)
class PreparedSchema:
    """A subschema as it is read under a dialect."""

    #: The steps that applying it takes.
    charge: int
    #: The keywords in force with their values and what judges by them, as they stand.
    keywords: tuple[tuple[str, Any, KeywordFunction], ...]
    #: Whether it may be the root of a resource.
    identified: bool


def prepare_schema(
    schema: Any, judges: Mapping[str, KeywordFunction], dialect: Dialect
) -> PreparedSchema:
    """Return the reading of *schema*, an object, by the *judges* of *dialect*."""
    hides = dialect.reference_hides_siblings and "$ref" in schema
    placed = (("$ref", schema["$ref"]),) if hides else schema.items()
    return PreparedSchema(
        application_steps(schema),
        tuple((name, value, judges[name]) for name, value in placed if name in judges),
        "$id" in schema or "id" in schema,
    )


class PreparedSchemas:
    """The readings of one schema by the identity of subschemas, which must live as long."""

    __slots__ = ("_charges", "_known", "targets")

    def __init__(self) -> None:
        #: What references lead to, by the identity of the resource in which they stand.
        self.targets: dict[tuple[int, str], tuple[JsonValue, Resource]] = {}
        self._charges: dict[int, int] = {}
        self._known: dict[tuple[Draft, frozenset[str]], dict[int, PreparedSchema]] = {}

    def under(self, dialect: Dialect) -> dict[int, PreparedSchema]:
        """Return those under *dialect* so far."""
        return self._known.setdefault((dialect.draft, dialect.keywords), {})

    def charge(self, schema: Any) -> int:
        """Return the steps of applying *schema* itself, for who does so in an order of his own."""
        steps = self._charges.get(id(schema))
        if steps is None:
            steps = self._charges[id(schema)] = application_steps(schema)
        return steps


@dataclass(frozen=True, slots=True)
class Scope:
    """The place of evaluation among the resources of a schema."""

    resources: Resources
    checks: TextChecks
    readings: PreparedSchemas
    budget: Budget
    #: What the reference of a subschema is read against.
    resource: Resource
    #: The dynamic scope: each resource once, in the order of first entry
    #: (2020-12 core, section 7.1). Only who came first ever counts.
    entered: tuple[Resource, ...]
    #: The readings under the dialect of the resource.
    known: dict[int, PreparedSchema]

    @property
    def dialect(self) -> Dialect:
        """The dialect of the resource."""
        return self.resource.dialect

    def enter(self, schema: dict[str, JsonValue]) -> "Scope":
        """Return the scope of *schema*, a subschema at hand, which may be a resource."""
        if "$id" not in schema and "id" not in schema:
            return self
        resource = self.resources.rooted_at(schema)
        return self if resource is None else self.within(resource)

    def within(self, resource: Resource) -> "Scope":
        """Return the scope after entering *resource* from here."""
        if resource is self.resource:
            return self
        entered = self.entered if resource in self.entered else (*self.entered, resource)
        known = self.readings.under(resource.dialect)
        return replace(self, resource=resource, entered=entered, known=known)

    def follow(self, reference: str) -> tuple[JsonValue, "Scope"]:
        """Return the schema that ``$ref`` leads to, and its scope.

        Raises:
            UnresolvableError: it leads nowhere.
        """
        key = (id(self.resource), reference)
        target = self.readings.targets.get(key)
        if target is None:
            target = self.resources.resolve(reference, self.resource)
            self.readings.targets[key] = target
        return target[0], self.within(target[1])

    def follow_dynamic(self, reference: str) -> tuple[JsonValue, "Scope"]:
        """Return the schema that ``$dynamicRef`` leads to (2020-12 core, section 8.2.3.2).

        Raises:
            UnresolvableError: it leads nowhere.
        """
        schema, resource = self.resources.resolve(reference, self.resource)
        name = reference.partition("#")[2]
        if name in resource.dynamic_anchors:
            for outer in (*self.entered, resource):
                if name in outer.dynamic_anchors:
                    return outer.dynamic_anchors[name], self.within(outer)
        return schema, self.within(resource)

    def follow_recursive(self, reference: str) -> tuple[JsonValue, "Scope"]:
        """Return the schema that ``$recursiveRef`` leads to (2019-09 core, section 8.2.4.2).

        Raises:
            UnresolvableError: it leads nowhere.
        """
        schema, resource = self.resources.resolve(reference, self.resource)
        if schema is resource.contents and resource.recursive:
            for outer in (*self.entered, resource):
                if outer.recursive:
                    return outer.contents, self.within(outer)
        return schema, self.within(resource)


def scope_of(validator: Any) -> Scope:
    """Return the scope in which *validator* judges."""
    # jsonschema keeps there what resolves references, which is what a scope does.
    scope: Scope = validator._resolver  # noqa: SLF001
    return scope
