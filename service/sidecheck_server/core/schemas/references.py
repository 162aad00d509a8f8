"""Resolution of the references of a schema, once and without a payload.

`survey_schema` walks every reachable subschema: the subschemas at the positions that the
dialect defines, and the targets of references. Every reference must resolve within the
schema, its documents and the published meta-schemas, even in a branch that no payload
reaches. Nothing is ever fetched. A survey is complete, and may be used, if it lists no
unresolved reference, no unreadable resource and no conflict.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.resources import Conflict, Resource, Resources, UnresolvableError
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = [
    "REFERENCES",
    "Reference",
    "Subschema",
    "Survey",
    "UnreadableResource",
    "UnresolvedReference",
    "shorten_start",
    "survey_schema",
]

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The reference keywords."""
_REFERENCES = frozenset(REFERENCES)

_PLACE_LENGTH = 300
"""Longest place in a message, in characters."""


@dataclass(slots=True, eq=False)
class Subschema:
    """An object schema with its resource and its path."""

    schema: dict[str, JsonValue]
    #: The resource that contains it and resolves its references.
    resource: Resource
    #: The subschema that contains it or refers to it; None for the root.
    parent: "Subschema | None" = None
    #: The path from the parent to it, or to the keyword that refers to it.
    path: tuple[str | int, ...] = ()
    #: The reference from the parent; None if the parent contains it.
    reference: str | None = None

    @property
    def step(self) -> str:
        """The step from its parent: a JSON Pointer, or a reference."""
        arrow = "" if self.reference is None else f" -> {self.reference}"
        return as_pointer(self.path) + arrow

    @property
    def dialect(self) -> Dialect:
        """The dialect of its resource."""
        return self.resource.dialect

    @property
    def place(self) -> str:
        """The path from the root, for people; a long path is shortened to its end."""
        # Not cached, since many subschemas may be below one very long name.
        steps: list[str] = []
        current: Subschema | None = self
        length = 0
        while current is not None and length <= _PLACE_LENGTH:
            step = current.step
            steps.append(step)
            length += len(step)
            current = current.parent
        return shorten_start("".join(reversed(steps)), _PLACE_LENGTH)


@dataclass(frozen=True, slots=True)
class Reference:
    """A resolved reference."""

    target: JsonValue
    #: The resource that contains the target.
    resource: Resource
    #: Whether the target is the same in every dynamic scope.
    static: bool = True


@dataclass(frozen=True, slots=True)
class UnresolvedReference:
    """A reference without a target, or whose target is not a schema."""

    subschema: Subschema
    keyword: str
    #: Description of the fault, for people.
    fault: str


@dataclass(frozen=True, slots=True)
class UnreadableResource:
    """A resource in an unknown dialect."""

    #: The subschema that is the resource, or that refers to it.
    subschema: Subschema
    #: ``$schema``, or the keyword that refers to it.
    keyword: str
    error: RequestError


@dataclass(slots=True)
class Survey:
    """The subschemas of a schema and its references, keyed by object identity.

    The keys are valid as long as the surveyed schema is alive.
    """

    #: In document order; after that, targets outside the schema, in the order of references.
    reached: dict[int, Subschema] = field(default_factory=dict)
    references: dict[tuple[int, str], Reference] = field(default_factory=dict)
    unresolved: list[UnresolvedReference] = field(default_factory=list)
    unreadable: list[UnreadableResource] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)


Check = Callable[[Subschema], None]


def survey_schema(resources: Resources, check: Check, limits: Limits) -> Survey:
    """Return the survey of the root of *resources*, which must be an object.

    *check* is called with every subschema that declares another dialect or that only a
    reference reaches, before its subschemas are walked: the check of the root against its
    meta-schema does not cover these. The schema need not be valid: values that are not
    schemas are skipped.

    Raises:
        RequestError: LIMIT_EXCEEDED for too many subschemas; errors of *check*.
    """
    return _Surveyor(resources, check, limits).survey()


class _Surveyor:
    def __init__(self, resources: Resources, check: Check, limits: Limits) -> None:
        self.resources = resources
        self.check = check
        self.limit = limits.subschemas
        self.result = Survey(conflicts=resources.conflicts)
        self.unreadable: set[int] = set()

    def survey(self) -> Survey:
        root = self.resources.root
        assert isinstance(root.contents, dict)
        # This reads all resources, so that their conflicts are known before evaluation.
        self.resources.rooted_at(root.contents)
        referring = deque(self.walk(Subschema(root.contents, root)))
        while referring:
            for target in self.follow(referring.popleft()):
                self.check(target)
                referring.extend(self.walk(target))
        return self.result

    def walk(self, start: Subschema) -> list[Subschema]:
        """Add *start* and the subschemas that it contains; return those with references."""
        referring: list[Subschema] = []
        reached, stack = self.result.reached, [start]
        while stack:
            subschema = stack.pop()
            if id(subschema.schema) in reached:
                continue
            if len(reached) >= self.limit:
                raise limit_exceeded_error("subschemas", self.limit, "too many subschemas")
            reached[id(subschema.schema)] = subschema
            if not _REFERENCES.isdisjoint(subschema.schema):
                referring.append(subschema)
            stack += reversed(self.children(subschema))
        return referring

    def children(self, parent: Subschema) -> list[Subschema]:
        """Return the subschemas of *parent* that are objects in a known dialect."""
        schema, resource = parent.schema, parent.resource
        dialect = resource.dialect
        if "$ref" in schema and dialect.reference_hides_siblings:
            return []
        children: list[Subschema] = []
        for path, value in subschemas(schema, dialect.draft):
            if isinstance(value, dict):
                inner = None
                if "$id" in value or "id" in value:
                    inner = self.resources.rooted_at(value)
                child = Subschema(value, inner or resource, parent, path)
                if inner is None or self.check_embedded(child, inner, dialect):
                    children.append(child)
        return children

    def check_embedded(self, child: Subschema, resource: Resource, dialect: Dialect) -> bool:
        """Check *child*, a *resource* inside one of *dialect*; return whether to walk it.

        A resource of an unknown dialect is reported, and not walked.
        """
        if resource.error is not None:
            self.add_unreadable(child, "$schema", resource)
            return False
        if resource.dialect.uri != dialect.uri:
            # The meta-schema of the parent does not apply to it (2020-12 core, 9.3.3).
            self.check(child)
        return True

    def add_unreadable(self, subschema: Subschema, keyword: str, resource: Resource) -> None:
        if resource.error is not None and id(resource) not in self.unreadable:
            self.unreadable.add(id(resource))
            unreadable = UnreadableResource(subschema, keyword, resource.error)
            self.result.unreadable.append(unreadable)

    def follow(self, subschema: Subschema) -> Iterator[Subschema]:
        """Resolve the references of *subschema*; yield the unreached targets."""
        for keyword in REFERENCES:
            if keyword not in subschema.schema or keyword not in subschema.dialect.keywords:
                continue
            reference = self.resolve(subschema, keyword)
            if reference is None:
                continue
            self.result.references[id(subschema.schema), keyword] = reference
            target = reference.target
            if isinstance(target, dict) and id(target) not in self.result.reached:
                uri = shorten_start(str(subschema.schema[keyword]))
                yield Subschema(target, reference.resource, subschema, (keyword,), uri)

    def resolve(self, subschema: Subschema, keyword: str) -> Reference | None:
        uri = subschema.schema[keyword]
        if not isinstance(uri, str):
            # Only the meta-schema of draft 4 accepts this.
            self.add_unresolved(subschema, keyword, "it is not a string")
            return None
        try:
            target, resource = self.resources.resolve(uri, subschema.resource)
        except UnresolvableError:
            self.add_unresolved(subschema, keyword, "its target does not exist")
            return None
        self.add_unreadable(subschema, keyword, resource)
        if not isinstance(target, dict | bool):
            self.add_unresolved(subschema, keyword, "its target is not a schema")
            return None
        if keyword == "$dynamicRef":
            return self.dynamic(uri.partition("#")[2], Reference(target, resource))
        if keyword == "$recursiveRef":
            return self.recursive(Reference(target, resource))
        return Reference(target, resource)

    def add_unresolved(self, subschema: Subschema, keyword: str, fault: str) -> None:
        self.result.unresolved.append(UnresolvedReference(subschema, keyword, fault))

    def dynamic(self, name: str, initial: Reference) -> Reference:
        """Resolve ``$dynamicRef`` (2020-12 core, section 8.2.3.2), statically if possible.

        Evaluation starts at the root, so the root is the outermost resource of every dynamic
        scope: if the root declares the anchor, its anchor is always the target.
        """
        # Decision 0002: the fast engine can evaluate references that resolve statically.
        root = self.resources.root
        if name not in initial.resource.dynamic_anchors:
            return initial
        if name in root.dynamic_anchors:
            return Reference(root.dynamic_anchors[name], root)
        return Reference(initial.target, initial.resource, static=False)

    def recursive(self, initial: Reference) -> Reference:
        """Resolve ``$recursiveRef`` (2019-09 core, section 8.2.4.2), as `dynamic` does."""
        root = self.resources.root
        if initial.target is not initial.resource.contents or not initial.resource.recursive:
            return initial
        if root.recursive:
            return Reference(root.contents, root)
        return Reference(initial.target, initial.resource, static=False)


def shorten_start(text: str, length: int = 200) -> str:
    """Return the end of *text*, at most *length* characters and an ellipsis."""
    return text if len(text) <= length else f"…{text[-length:]}"
