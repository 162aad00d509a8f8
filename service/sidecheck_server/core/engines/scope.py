"""Scope of evaluation: resource, dynamic scope and prepared subschemas."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.engines.text_checks import TextChecks
from sidecheck_server.core.engines.weights import application_steps
from sidecheck_server.core.limits import Budget
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.resources import Resource, Resources
from sidecheck_server.core.types import Draft, JsonValue

__all__ = [
    "KeywordFunction",
    "PreparedSchema",
    "PreparedSchemas",
    "Scope",
    "prepare_schema",
]


KeywordFunction = Callable[[Any, Any, Any, Any], Iterable[Any]]
"""Takes validator, keyword value, instance and schema; returns the faults of the keyword."""


@dataclass(frozen=True, slots=True)
class PreparedSchema:
    """A subschema prepared for evaluation in one dialect."""

    #: Steps of applying it once.
    steps: int
    #: Keywords in force, with their values and functions, in schema order.
    keywords: tuple[tuple[str, Any, KeywordFunction], ...]
    #: Whether it may be the root of a resource.
    has_identifier: bool


def prepare_schema(
    schema: Any, functions: Mapping[str, KeywordFunction], dialect: Dialect
) -> PreparedSchema:
    """Return *schema*, an object, prepared with the keyword *functions* of *dialect*."""
    only_reference = dialect.reference_hides_siblings and "$ref" in schema
    members = (("$ref", schema["$ref"]),) if only_reference else schema.items()
    return PreparedSchema(
        application_steps(schema),
        tuple((name, value, functions[name]) for name, value in members if name in functions),
        "$id" in schema or "id" in schema,
    )


class PreparedSchemas:
    """Cache of prepared subschemas of one schema, keyed by identity.

    The subschemas must live as long as the cache.
    """

    __slots__ = ("_by_dialect", "_steps", "targets")

    def __init__(self) -> None:
        #: Targets of references, by the identity of their resource and the reference.
        self.targets: dict[tuple[int, str], tuple[JsonValue, Resource]] = {}
        self._steps: dict[int, int] = {}
        self._by_dialect: dict[tuple[Draft, frozenset[str]], dict[int, PreparedSchema]] = {}

    def of_dialect(self, dialect: Dialect) -> dict[int, PreparedSchema]:
        """Return the cache for *dialect*, to which the caller adds prepared subschemas."""
        return self._by_dialect.setdefault((dialect.draft, dialect.keywords), {})

    def steps_of(self, schema: Any) -> int:
        """Return the steps of applying *schema*, without its subschemas."""
        steps = self._steps.get(id(schema))
        if steps is None:
            steps = self._steps[id(schema)] = application_steps(schema)
        return steps


@dataclass(frozen=True, slots=True)
class Scope:
    """Position of evaluation among the resources of a schema."""

    resources: Resources
    checks: TextChecks
    prepared: PreparedSchemas
    budget: Budget
    #: The resource against which references are resolved.
    resource: Resource
    #: The dynamic scope: each resource once, in the order of first entry
    #: (2020-12 core, section 7.1); later entries never change a result.
    entered: tuple[Resource, ...]
    #: The prepared subschemas in the dialect of the resource.
    prepared_subschemas: dict[int, PreparedSchema]

    @property
    def dialect(self) -> Dialect:
        """The dialect of the resource."""
        return self.resource.dialect

    def enter(self, schema: dict[str, JsonValue]) -> "Scope":
        """Return the scope of *schema*, a subschema or an embedded resource."""
        if "$id" not in schema and "id" not in schema:
            return self
        resource = self.resources.rooted_at(schema)
        return self if resource is None else self.within(resource)

    def within(self, resource: Resource) -> "Scope":
        """Return the scope after entering *resource* from this scope."""
        if resource is self.resource:
            return self
        entered = self.entered if resource in self.entered else (*self.entered, resource)
        subschemas = self.prepared.of_dialect(resource.dialect)
        return replace(self, resource=resource, entered=entered, prepared_subschemas=subschemas)

    def follow(self, reference: str) -> tuple[JsonValue, "Scope"]:
        """Return the target of ``$ref`` and its scope.

        Raises:
            UnresolvableError: there is no target.
        """
        key = (id(self.resource), reference)
        target = self.prepared.targets.get(key)
        if target is None:
            target = self.resources.resolve(reference, self.resource)
            self.prepared.targets[key] = target
        return target[0], self.within(target[1])

    def follow_dynamic(self, reference: str) -> tuple[JsonValue, "Scope"]:
        """Return the target of ``$dynamicRef`` and its scope (2020-12 core, 8.2.3.2).

        Raises:
            UnresolvableError: there is no target.
        """
        schema, resource = self.resources.resolve(reference, self.resource)
        name = reference.partition("#")[2]
        if name in resource.dynamic_anchors:
            for outer in (*self.entered, resource):
                if name in outer.dynamic_anchors:
                    return outer.dynamic_anchors[name], self.within(outer)
        return schema, self.within(resource)

    def follow_recursive(self, reference: str) -> tuple[JsonValue, "Scope"]:
        """Return the target of ``$recursiveRef`` and its scope (2019-09 core, 8.2.4.2).

        Raises:
            UnresolvableError: there is no target.
        """
        schema, resource = self.resources.resolve(reference, self.resource)
        if schema is resource.contents and resource.recursive:
            for outer in (*self.entered, resource):
                if outer.recursive:
                    return outer.contents, self.within(outer)
        return schema, self.within(resource)
