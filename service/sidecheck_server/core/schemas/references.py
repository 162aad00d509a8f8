"""Resolution of the references of a schema, once and without a payload.

`survey_schema` walks every reachable subschema: those at the positions that the dialect
defines, and the targets of references. Every reference must resolve within the schema,
its documents and the published meta-schemas, even in a branch that no payload reaches.
Nothing is ever fetched.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.resources import Resource, Resources, UnresolvableError
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = [
    "REFERENCES",
    "Reference",
    "Subschema",
    "Survey",
    "check_reference_cycles",
    "survey_schema",
]

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The reference keywords."""

_PLACE_LENGTH = 300
"""The longest place shown in a message, in characters."""


@dataclass(frozen=True, slots=True)
class Subschema:
    """An object schema with its resource and its path."""

    schema: dict[str, JsonValue]
    #: The resource that contains it, against which its references are resolved.
    resource: Resource
    #: The subschema from which it was reached; None for the root.
    parent: "Subschema | None" = None
    #: The step from there: a JSON Pointer, or a reference.
    step: str = ""

    @property
    def dialect(self) -> Dialect:
        """The dialect of its resource."""
        return self.resource.dialect

    @property
    def place(self) -> str:
        """The path from the root, for people; of a long one the end."""
        # Not cached: many subschemas may be below one very long name.
        steps: list[str] = []
        current: Subschema | None = self
        length = 0
        while current is not None and length <= _PLACE_LENGTH:
            steps.append(current.step)
            length += len(current.step)
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


@dataclass(slots=True)
class Survey:
    """The subschemas of a schema and its references, keyed by object identity.

    The keys are valid as long as the surveyed schema is alive.
    """

    reached: dict[int, Subschema] = field(default_factory=dict)
    references: dict[tuple[int, str], Reference] = field(default_factory=dict)


Check = Callable[[Subschema], None]


def survey_schema(resources: Resources, check: Check, limits: Limits) -> Survey:
    """Return the survey of the root of *resources*, which is an object.

    *check* is called, before it is walked, with every subschema that has a dialect of its
    own or that only a reference reaches. It raises an error if the subschema is invalid
    against its meta-schema.

    Raises:
        RequestError: UNRESOLVABLE_REFERENCE, UNSUPPORTED_DIALECT, or LIMIT_EXCEEDED for
            too many subschemas; and the errors of *check*.
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
        # Reads all resources now, so that their errors are raised before evaluation.
        self.resources.rooted_at(root.contents)
        self.walk(Subschema(root.contents, root))
        pending = list(self.result.reached.values())
        while pending:
            for target in self.follow(pending.pop()):
                before = len(self.result.reached)
                self.check(target)
                self.walk(target)
                pending.extend(list(self.result.reached.values())[before:])
        return self.result

    def walk(self, start: Subschema) -> None:
        """Add the subschemas at and below *start* by position."""
        stack = [start]
        while stack:
            subschema = stack.pop()
            if id(subschema.schema) in self.result.reached:
                continue
            if len(self.result.reached) >= self.limit:
                raise limit_exceeded_error("subschemas", self.limit, "too many subschemas")
            self.result.reached[id(subschema.schema)] = subschema
            stack.extend(self.children(subschema))

    def children(self, parent: Subschema) -> Iterator[Subschema]:
        if "$ref" in parent.schema and parent.dialect.reference_hides_siblings:
            return
        for path, value in subschemas(parent.schema, parent.dialect.draft):
            if isinstance(value, dict):
                yield self.enter(value, parent, as_pointer(path))

    def enter(self, schema: dict[str, JsonValue], parent: Subschema, step: str) -> Subschema:
        resource = parent.resource
        if "$id" in schema or "id" in schema:
            resource = self.resources.rooted_at(schema) or resource
        subschema = Subschema(schema, resource, parent, step)
        if subschema.dialect.uri != parent.dialect.uri:
            # The meta-schema of its parent does not apply to it (2020-12 core, 9.3.3).
            self.check(subschema)
        return subschema

    def follow(self, subschema: Subschema) -> Iterator[Subschema]:
        """Resolve the references of *subschema*; yield the targets not reached yet."""
        for keyword in REFERENCES:
            if keyword not in subschema.schema or keyword not in subschema.dialect.keywords:
                continue
            uri = subschema.schema[keyword]
            if not isinstance(uri, str):
                # Only the meta-schema of draft 4 lets this pass.
                raise self.unresolvable(subschema, keyword, str(uri), "it is not a string")
            reference = self.resolve(subschema, keyword, uri)
            self.result.references[id(subschema.schema), keyword] = reference
            target = reference.target
            if isinstance(target, dict) and id(target) not in self.result.reached:
                step = f"/{keyword} -> {shorten_start(uri)}"
                yield Subschema(target, reference.resource, subschema, step)

    def resolve(self, subschema: Subschema, keyword: str, uri: str) -> Reference:
        try:
            target, resource = self.resources.resolve(uri, subschema.resource)
        except UnresolvableError:
            raise self.unresolvable(subschema, keyword, uri) from None
        if not isinstance(target, dict | bool):
            raise self.unresolvable(subschema, keyword, uri, "its target is not a schema")
        if keyword == "$dynamicRef":
            return self.dynamic(uri.partition("#")[2], Reference(target, resource))
        if keyword == "$recursiveRef":
            return self.recursive(Reference(target, resource))
        return Reference(target, resource)

    def dynamic(self, name: str, initial: Reference) -> Reference:
        """Resolve ``$dynamicRef`` (2020-12 core, section 8.2.3.2) as far as it is static.

        Evaluation starts at the root, so the root is the outermost resource of any
        dynamic scope: if it has the anchor, it is always the target.
        """
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

    @staticmethod
    def unresolvable(
        subschema: Subschema, keyword: str, uri: str, fault: str = "its target does not exist"
    ) -> RequestError:
        return RequestError(
            ErrorReason.UNRESOLVABLE_REFERENCE,
            f"the {keyword} {shorten_start(uri)} at {subschema.place or 'the root'} cannot be "
            f"resolved: {fault}; references resolve within the schema and the documents sent "
            "along, and nothing is ever fetched",
            {"reference": shorten_start(uri), "place": subschema.place},
        )


def shorten_start(text: str, length: int = 200) -> str:
    """Return the end of *text*, at most *length* characters and an ellipsis."""
    return text if len(text) <= length else f"…{text[-length:]}"


# Applicators that apply to the same value again (2020-12 core, section 10.2).
_IN_PLACE = frozenset(
    {
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependencies",
    }
)


def check_reference_cycles(survey: Survey) -> None:
    """Check that no references and in-place applicators form a cycle.

    Raises:
        RequestError: REFERENCE_CYCLE, since evaluation would not terminate (2020-12 core,
            section 9.4.1).
    """
    graph = {key: list(_successors(node, survey)) for key, node in survey.reached.items()}
    cycle = _find_cycle(graph)
    if cycle is not None:
        place = survey.reached[cycle].place
        raise RequestError(
            ErrorReason.REFERENCE_CYCLE,
            f"the references at {place or 'the root'} form a cycle that consumes no part of the "
            "payload, so evaluation would not terminate",
            {"place": place},
        )


def _successors(subschema: Subschema, survey: Survey) -> Iterator[int]:
    """Yield the subschemas that *subschema* applies to the same value."""
    schema = subschema.schema
    for keyword in REFERENCES:
        reference = survey.references.get((id(schema), keyword))
        if reference is not None and id(reference.target) in survey.reached:
            yield id(reference.target)
    if "$ref" in schema and subschema.dialect.reference_hides_siblings:
        return
    for path, value in subschemas(schema, subschema.dialect.draft):
        # `then` and `else` are ignored without `if` (draft-07 validation, section 6.6).
        applied = path[0] in _IN_PLACE and (path[0] not in ("then", "else") or "if" in schema)
        if isinstance(value, dict) and applied:
            yield id(value)


def _find_cycle(graph: Mapping[int, Iterable[int]]) -> int | None:
    """Return a node of a cycle in *graph*, or None."""
    done: set[int] = set()
    for start in graph:
        if start in done:
            continue
        path = {start}
        stack = [(start, iter(graph[start]))]
        while stack:
            node, successors = stack[-1]
            successor = next(successors, None)
            if successor is None:
                stack.pop()
                path.discard(node)
                done.add(node)
            elif successor in path:
                return successor
            elif successor not in done:
                path.add(successor)
                stack.append((successor, iter(graph[successor])))
    return None
