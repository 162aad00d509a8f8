"""Where the references of a schema lead, found once and without any payload.

`survey` walks every subschema that can be reached: those at the positions that the
dialect knows, and those that references lead to. Every reference must resolve
within the schema, its documents and the published meta-schemas, even in a branch
that no payload would reach; nothing is ever retrieved.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from referencing.exceptions import Unresolvable
from referencing.jsonschema import DynamicAnchor

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.documents import SchemaRegistry
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.words import JsonValue, as_pointer

__all__ = ["Reference", "Subschema", "Survey", "survey"]

DialectOf = Callable[[JsonValue, Dialect], Dialect]
Check = Callable[["Subschema"], None]


@dataclass(frozen=True, slots=True)
class Subschema:
    """An object schema, with what is needed to read it."""

    schema: dict[str, JsonValue]
    dialect: Dialect
    resolver: Any
    #: Where it stands, in words for a person.
    place: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Where one reference leads."""

    target: JsonValue
    dialect: Dialect
    resolver: Any
    #: Whether it leads there from wherever evaluation comes.
    static: bool = True


@dataclass(slots=True)
class Survey:
    """The subschemas of a schema and its references, keyed by object identity.

    The keys are valid as long as the schema that was surveyed is alive.
    """

    reached: dict[int, Subschema] = field(default_factory=dict)
    references: dict[tuple[int, str], Reference] = field(default_factory=dict)


REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def survey(
    root: dict[str, JsonValue],
    dialect: Dialect,
    registry: SchemaRegistry,
    dialect_of: DialectOf,
    check: Check,
    limits: Limits,
) -> Survey:
    """Return the survey of *root*.

    *dialect_of* tells the dialect that a resource declares, given the one around
    it. *check* is called once with every subschema that lies outside *root*, before
    it is walked, and refuses what breaks its meta-schema.

    Raises:
        Refusal: UNRESOLVABLE_REFERENCE, UNSUPPORTED_DIALECT, or LIMIT_EXCEEDED for
            too many subschemas; and what *check* raises.
    """
    return _Surveyor(registry, dialect_of, check, limits).survey(root, dialect)


class _Surveyor:
    def __init__(
        self, registry: SchemaRegistry, dialect_of: DialectOf, check: Check, limits: Limits
    ) -> None:
        self.registry = registry
        self.dialect_of = dialect_of
        self.check = check
        self.limit = limits.subschemas
        self.result = Survey()
        self.count = 0
        self.root: Any = None

    def survey(self, root: dict[str, JsonValue], dialect: Dialect) -> Survey:
        resource = dialect.specification.create_resource(root)
        self.root = self.registry.resolver_with_root(resource)
        self.walk(Subschema(root, dialect, self.root, ""))
        pending = list(self.result.reached.values())
        while pending:
            for found in self.follow(pending.pop()):
                before = len(self.result.reached)
                self.check(found)
                self.walk(found)
                pending.extend(list(self.result.reached.values())[before:])
        return self.result

    def walk(self, start: Subschema) -> None:
        """Add the subschemas at and below *start* by position."""
        stack = [start]
        while stack:
            here = stack.pop()
            if id(here.schema) in self.result.reached:
                continue
            self.count += 1
            if self.count > self.limit:
                raise exceeded("subschemas", self.limit, "too many subschemas")
            self.result.reached[id(here.schema)] = here
            stack.extend(self.children(here))

    def children(self, here: Subschema) -> Iterator[Subschema]:
        if here.dialect.reference_hides_siblings and "$ref" in here.schema:
            return
        for path, value in subschemas(here.schema, here.dialect.draft):
            if isinstance(value, dict):
                yield self.enter(value, here, here.place + as_pointer(path))

    def enter(self, schema: dict[str, JsonValue], parent: Subschema, place: str) -> Subschema:
        dialect, resolver = parent.dialect, parent.resolver
        if "$id" in schema or "id" in schema:
            dialect = self.dialect_of(schema, dialect)
            if isinstance(schema.get(dialect.id_keyword), str):
                resource = dialect.specification.create_resource(schema)
                resolver = resolver.in_subresource(resource)
            else:
                dialect = parent.dialect
        return Subschema(schema, dialect, resolver, place)

    def follow(self, here: Subschema) -> Iterator[Subschema]:
        """Resolve the references of *here*; yield the targets that were not reached yet."""
        for keyword in REFERENCES:
            uri = here.schema.get(keyword)
            if uri is None or keyword not in here.dialect.keywords:
                continue
            reference = self.resolve(here, keyword, str(uri))
            self.result.references[id(here.schema), keyword] = reference
            target = reference.target
            if isinstance(target, dict) and id(target) not in self.result.reached:
                place = f"{here.place}/{keyword} -> {uri}"
                yield Subschema(target, reference.dialect, reference.resolver, place)

    def resolve(self, here: Subschema, keyword: str, uri: str) -> Reference:
        try:
            resolved = here.resolver.lookup(uri)
            root = resolved.resolver.lookup("#").contents
        except (Unresolvable, LookupError, ValueError, TypeError, AttributeError):
            # Documents are other people's: a broken one breaks the library in
            # many ways, and all of them mean that the reference leads nowhere.
            raise self.unresolvable(here, keyword, uri) from None
        if not isinstance(resolved.contents, dict | bool):
            raise self.unresolvable(here, keyword, uri, "it leads to something that is no schema")
        dialect = self.dialect_of(root, here.dialect)
        static = Reference(resolved.contents, dialect, resolved.resolver)
        if keyword == "$ref":
            return static
        if keyword == "$recursiveRef":
            return self.recursive(static)
        return self.dynamic(uri, static)

    def dynamic(self, uri: str, static: Reference) -> Reference:
        """Resolve ``$dynamicRef`` (2020-12 core, section 8.2.3.2) as far as it is static.

        Evaluation starts at the root, so the root is the outermost resource of any
        dynamic scope: if it has the anchor, the reference always leads to it.
        """
        name = uri.rpartition("#")[2]
        if not name or name.startswith("/"):
            return static
        base = static.resolver.lookup("#").resolver
        if not _is_dynamic_anchor(base, name):
            return static
        if _is_dynamic_anchor(self.root, name):
            found = self.root.lookup(f"#{name}")
            return Reference(found.contents, self.result_root().dialect, found.resolver)
        return Reference(static.target, static.dialect, static.resolver, static=False)

    def recursive(self, static: Reference) -> Reference:
        """Resolve ``$recursiveRef`` (2019-09 core, section 8.2.4.2), as `dynamic` does."""
        target = static.target
        if not isinstance(target, dict) or target.get("$recursiveAnchor") is not True:
            return static
        root = self.result_root()
        if root.schema.get("$recursiveAnchor") is True:
            return Reference(root.schema, root.dialect, root.resolver)
        return Reference(static.target, static.dialect, static.resolver, static=False)

    def result_root(self) -> Subschema:
        return next(iter(self.result.reached.values()))

    @staticmethod
    def unresolvable(
        here: Subschema, keyword: str, uri: str, why: str = "nothing is there"
    ) -> Refusal:
        return Refusal(
            Reason.UNRESOLVABLE_REFERENCE,
            f"the {keyword} {_shortened(uri)} at {here.place or 'the root'} does not resolve: "
            f"{why}; references resolve within the schema and the documents sent along, and "
            "nothing is ever fetched",
            {"reference": _shortened(uri), "place": here.place},
        )


def _is_dynamic_anchor(resolver: Any, name: str) -> bool:
    # The registry of a resolver that has looked its own root up is crawled, and
    # knows the anchors of that root.
    try:
        root = resolver.lookup("#")
        base = root.resolver._base_uri  # noqa: SLF001  (no public way to an anchor's kind)
        anchor = root.resolver._registry.anchor(base, name)  # noqa: SLF001
    except (Unresolvable, LookupError):
        return False
    return isinstance(anchor.value, DynamicAnchor)


def _shortened(uri: str) -> str:
    return uri if len(uri) <= 200 else f"{uri[:200]}…"
