"""Where in the schemas evaluation stands: the resource, and those entered before it."""

from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.budget import Budget
from sidecheck_server.core.engines.checks import Checks
from sidecheck_server.core.engines.readings import Reading, Readings
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.resources import Resource, Resources
from sidecheck_server.core.types import JsonValue

__all__ = ["Scope", "scope_of"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The place of evaluation among the resources of a schema."""

    resources: Resources
    checks: Checks
    readings: Readings
    budget: Budget
    #: What the reference of a subschema is read against.
    resource: Resource
    #: The dynamic scope: each resource once, in the order of first entry
    #: (2020-12 core, section 7.1). Only who came first ever counts.
    entered: tuple[Resource, ...]
    #: The readings under the dialect of the resource.
    known: dict[int, Reading]

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
