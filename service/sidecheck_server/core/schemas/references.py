"""Where the references of a schema lead, found once and without any payload.

`survey` walks every subschema that can be reached: those at the positions that the
dialect knows, and those that references lead to. Every reference must resolve
within the schema, its documents and the published meta-schemas, even in a branch
that no payload would reach; nothing is ever retrieved.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.resources import Resource, Resources, UnresolvableError
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["REFERENCES", "Reference", "Subschema", "Survey", "survey"]


REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that lead to another schema."""

_PLACE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Subschema:
    """An object schema, with what is needed to read it."""

    schema: dict[str, JsonValue]
    #: The resource that it is a part of, against which its references are read.
    resource: Resource
    #: The subschema that leads to it; None for the root.
    above: "Subschema | None" = None
    #: The way from there: a path, or a reference.
    step: str = ""

    @property
    def dialect(self) -> Dialect:
        """The dialect of its resource."""
        return self.resource.dialect

    @property
    def place(self) -> str:
        """Where it stands, for a person: its way from the root, or the end of a long one."""
        # Not kept: many subschemas may stand below one very long name.
        steps: list[str] = []
        here: Subschema | None = self
        length = 0
        while here is not None and length <= _PLACE_LENGTH:
            steps.append(here.step)
            length += len(here.step)
            here = here.above
        return shortened("".join(reversed(steps)), _PLACE_LENGTH)


@dataclass(frozen=True, slots=True)
class Reference:
    """Where one reference leads."""

    target: JsonValue
    #: The resource that the target is a part of.
    resource: Resource
    #: Whether it leads there from wherever evaluation comes.
    static: bool = True


@dataclass(slots=True)
class Survey:
    """The subschemas of a schema and its references, keyed by object identity.

    The keys are valid as long as the schema that was surveyed is alive.
    """

    reached: dict[int, Subschema] = field(default_factory=dict)
    references: dict[tuple[int, str], Reference] = field(default_factory=dict)


Check = Callable[[Subschema], None]


def survey(resources: Resources, check: Check, limits: Limits) -> Survey:
    """Return the survey of the root of *resources*, which is an object.

    *check* is called with every subschema that a reference leads to outside of what
    was reached by position, or that has a dialect of its own, before it is walked. It
    refuses what breaks its meta-schema.

    Raises:
        Refusal: UNRESOLVABLE_REFERENCE, UNSUPPORTED_DIALECT, or LIMIT_EXCEEDED for
            too many subschemas; and what *check* raises.
    """
    return _Surveyor(resources, check, limits).survey()


class _Surveyor:
    def __init__(self, resources: Resources, check: Check, limits: Limits) -> None:
        self.resources = resources
        self.check = check
        self.limit = limits.subschemas
        self.result = Survey()

    def survey(self) -> Survey:
        root = self.resources.root
        assert isinstance(root.contents, dict)
        # Whatever the complete engine would refuse to read is refused before it judges.
        self.resources.rooted_at(root.contents)
        self.walk(Subschema(root.contents, root))
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
            if len(self.result.reached) >= self.limit:
                raise exceeded("subschemas", self.limit, "too many subschemas")
            self.result.reached[id(here.schema)] = here
            stack.extend(self.children(here))

    def children(self, here: Subschema) -> Iterator[Subschema]:
        if "$ref" in here.schema and here.dialect.reference_hides_siblings:
            return
        for path, value in subschemas(here.schema, here.dialect.draft):
            if isinstance(value, dict):
                yield self.enter(value, here, as_pointer(path))

    def enter(self, schema: dict[str, JsonValue], parent: Subschema, step: str) -> Subschema:
        resource = parent.resource
        if "$id" in schema or "id" in schema:
            resource = self.resources.rooted_at(schema) or resource
        found = Subschema(schema, resource, parent, step)
        if found.dialect.uri != parent.dialect.uri:
            # The meta-schema of what is around says nothing about it (2020-12 core, 9.3.3).
            self.check(found)
        return found

    def follow(self, here: Subschema) -> Iterator[Subschema]:
        """Resolve the references of *here*; yield the targets that were not reached yet."""
        for keyword in REFERENCES:
            if keyword not in here.schema or keyword not in here.dialect.keywords:
                continue
            uri = here.schema[keyword]
            if not isinstance(uri, str):
                # Only the meta-schema of draft 4 lets this pass.
                raise self.unresolvable(here, keyword, str(uri), "it is not a string")
            reference = self.resolve(here, keyword, uri)
            self.result.references[id(here.schema), keyword] = reference
            target = reference.target
            if isinstance(target, dict) and id(target) not in self.result.reached:
                step = f"/{keyword} -> {shortened(uri)}"
                yield Subschema(target, reference.resource, here, step)

    def resolve(self, here: Subschema, keyword: str, uri: str) -> Reference:
        try:
            target, resource = self.resources.resolve(uri, here.resource)
        except UnresolvableError:
            raise self.unresolvable(here, keyword, uri) from None
        if not isinstance(target, dict | bool):
            raise self.unresolvable(here, keyword, uri, "it leads to something that is no schema")
        if keyword == "$dynamicRef":
            return self.dynamic(uri.partition("#")[2], Reference(target, resource))
        if keyword == "$recursiveRef":
            return self.recursive(Reference(target, resource))
        return Reference(target, resource)

    def dynamic(self, name: str, found: Reference) -> Reference:
        """Resolve ``$dynamicRef`` (2020-12 core, section 8.2.3.2) as far as it is static.

        Evaluation starts at the root, so the root is the outermost resource of any
        dynamic scope: if it has the anchor, the reference always leads to it.
        """
        root = self.resources.root
        if name not in found.resource.dynamic_anchors:
            return found
        if name in root.dynamic_anchors:
            return Reference(root.dynamic_anchors[name], root)
        return Reference(found.target, found.resource, static=False)

    def recursive(self, found: Reference) -> Reference:
        """Resolve ``$recursiveRef`` (2019-09 core, section 8.2.4.2), as `dynamic` does."""
        root = self.resources.root
        if found.target is not found.resource.contents or not found.resource.recursive:
            return found
        if root.recursive:
            return Reference(root.contents, root)
        return Reference(found.target, found.resource, static=False)

    @staticmethod
    def unresolvable(
        here: Subschema, keyword: str, uri: str, why: str = "nothing is there"
    ) -> RequestError:
        return RequestError(
            ErrorReason.UNRESOLVABLE_REFERENCE,
            f"the {keyword} {shortened(uri)} at {here.place or 'the root'} does not resolve: "
            f"{why}; references resolve within the schema and the documents sent along, and "
            "nothing is ever fetched",
            {"reference": shortened(uri), "place": here.place},
        )


def shortened(text: str, length: int = 200) -> str:
    """Return the end of *text*, at most *length* characters and an ellipsis."""
    return text if len(text) <= length else f"…{text[-length:]}"
