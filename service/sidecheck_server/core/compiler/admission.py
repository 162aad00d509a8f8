"""Admission of schemas: all checks before compilation.

Limits, JSON and the dialect of the schema come first: such a fault is reported alone.
Meta-schemas, references, patterns and reference cycles are checked even if the schema is
invalid, so that one error lists all of its faults.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from sidecheck_server.core.compiler.meta_schemas import find_meta_schema_faults
from sidecheck_server.core.compiler.schema_faults import SchemaFault, SchemaFaults
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.limits import Limits, limit_exceeded_error, recursion_depth_error
from sidecheck_server.core.patterns import UNBOUNDED, PatternError, PatternFault, compile_pattern
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.schemas.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    Dialect,
    SchemaSource,
    dialect_named,
    dialect_of,
)
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.references import (
    REFERENCES,
    Subschema,
    Survey,
    UnresolvedReference,
    shorten_start,
    survey_schema,
)
from sidecheck_server.core.schemas.resources import (
    PUBLISHED,
    Conflict,
    Resource,
    Resources,
    may_declare_identifiers,
)
from sidecheck_server.core.types import Document, JsonValue, Violation, as_pointer, pointer_steps

__all__ = [
    "AdmittedSchema",
    "PatternAdmission",
    "SchemaContext",
    "admit_schema",
    "find_cycle_faults",
    "find_reference_cycles",
    "find_reference_faults",
    "read_source",
]

_MOST_SUGGESTIONS = 20
"""Most references for which a similar target is searched, at about a millisecond each."""

_RESOLUTION_SCOPE = (
    "references resolve within the schema and the documents sent along, and nothing is ever fetched"
)
_DEFINITIONS = ("$defs", "definitions")
_SHOWN_STEPS = 8
"""Most steps of a cycle that a message shows."""


def find_reference_faults(survey: Survey, resources: Resources) -> Iterator[SchemaFault]:
    """Yield the conflicts, unreadable resources and unresolved references of *survey*."""
    for conflict in survey.conflicts:
        yield _conflict_fault(conflict, survey, resources)
    for unreadable in survey.unreadable:
        yield SchemaFault(unreadable.subschema, f"/{unreadable.keyword}", unreadable.error)
    suggestions: dict[tuple[int, str], str] = {}
    for unresolved in survey.unresolved:
        resource = unresolved.subschema.resource
        uri = str(unresolved.subschema.schema[unresolved.keyword])
        key = (id(resource), uri)
        if key not in suggestions:
            searched = len(suggestions) < _MOST_SUGGESTIONS
            suggestions[key] = _suggest(uri, resource) if searched else ""
        yield _unresolved_fault(unresolved, uri, suggestions[key])


def _conflict_fault(conflict: Conflict, survey: Survey, resources: Resources) -> SchemaFault:
    subschema = survey.reached.get(id(conflict.schema))
    if subschema is None:
        # The schema is in a part of a document that no reference reaches.
        subschema = Subschema(conflict.schema, resources.root)
    message = (
        f"two different schemas have the {conflict.kind} {conflict.name[:200]}; "
        f"each needs its own {conflict.keyword}"
    )
    if conflict.name in PUBLISHED:
        message = (
            f"the URI {conflict.name} is that of a published meta-schema, which is built in and "
            f"cannot be redefined; give the schema another {conflict.keyword}, or none"
        )
    metadata = {conflict.kind.lower(): conflict.name}
    error = RequestError(ErrorReason.INVALID_SCHEMA, message, metadata)
    return SchemaFault(subschema, f"/{conflict.keyword}", error)


def _unresolved_fault(unresolved: UnresolvedReference, uri: str, suggestion: str) -> SchemaFault:
    subschema, keyword = unresolved.subschema, unresolved.keyword
    remedy = f"did you mean {suggestion!r}?" if suggestion else _RESOLUTION_SCOPE
    error = RequestError(
        ErrorReason.UNRESOLVABLE_REFERENCE,
        f"the {keyword} {shorten_start(uri)} at {subschema.place or 'the root'} cannot be "
        f"resolved: {unresolved.fault}; {remedy}",
        {"reference": shorten_start(uri), "place": subschema.place},
    )
    return SchemaFault(subschema, f"/{keyword}", error, suggestion=suggestion)


def _suggest(uri: str, resource: Resource) -> str:
    """Return the reference in *resource* that *uri* may be a misspelling of, or "".

    The last part of *uri* is compared with the siblings of the missing name, then with
    the names of all definitions, then with the anchors.
    """
    _, _, fragment = uri.rpartition("#")
    # An anchor has no slash, so it is a single step.
    name = pointer_steps(f"/{unquote(fragment.rstrip('/'))}")[-1]
    container, path = _follow_parent_steps(fragment, resource.contents)
    groups: list[tuple[tuple[str, ...], Iterable[str]]] = []
    if path and isinstance(container, dict):
        groups.append((path, container))
    if isinstance(resource.contents, dict):
        for keyword in _DEFINITIONS:
            definitions = resource.contents.get(keyword)
            if isinstance(definitions, dict):
                groups.append(((keyword,), definitions))
    for path, names in groups:
        if nearest := find_nearest(name, names):
            return "#" + as_pointer((*path, nearest))
    nearest = find_nearest(name, resource.anchors)
    return f"#{nearest}" if nearest else ""


def _follow_parent_steps(fragment: str, contents: JsonValue) -> tuple[JsonValue, tuple[str, ...]]:
    """Follow the pointer *fragment* without its last step; return value and path."""
    value, path = contents, []
    for step in pointer_steps(unquote(fragment))[:-1]:
        if not isinstance(value, dict) or step not in value:
            return None, ()
        value = value[step]
        path.append(step)
    return value, tuple(path)


def find_cycle_faults(survey: Survey) -> Iterator[SchemaFault]:
    """Yield the reference cycles in *survey*."""
    for cycle in find_reference_cycles(survey):
        place = cycle[0].place
        error = RequestError(
            ErrorReason.REFERENCE_CYCLE,
            f"the references at {place or 'the root'} form a cycle that consumes no part of the "
            f"payload, so evaluation would not terminate: {_describe(cycle)}; one of them must "
            "stand under a property or an item, or be removed",
            {"place": place},
        )
        yield SchemaFault(cycle[0], "", error)


def _describe(cycle: tuple[Subschema, ...]) -> str:
    """Return the steps of *cycle*, as in ``/$defs/a, /$defs/b, and again /$defs/a``."""
    places = [subschema.place or "the root" for subschema in islice(cycle, _SHOWN_STEPS)]
    if len(cycle) > _SHOWN_STEPS:
        places.append("…")
    return f"{', '.join(places)}, and again {places[0]}"


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


_APPLYING = _IN_PLACE.union(REFERENCES)


def find_reference_cycles(survey: Survey) -> Iterator[tuple[Subschema, ...]]:
    """Yield cycles that consume no part of a payload (2020-12 core, section 9.4.1).

    Each begins with the subschema to which evaluation returns; no two begin with the same
    subschema. Evaluation always terminates if and only if there are no cycles.
    """
    if not survey.references:
        return  # Without references, a schema is a tree.
    graph = {
        key: list(_successors(node, survey))
        for key, node in survey.reached.items()
        if not _APPLYING.isdisjoint(node.schema)
    }
    for cycle in _find_cycles(graph):
        yield tuple(survey.reached[key] for key in cycle)


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
        if applied and id(value) in survey.reached:
            yield id(value)


def _find_cycles(graph: Mapping[int, Iterable[int]]) -> Iterator[list[int]]:
    """Yield the nodes of cycles in *graph*, no two with the same first node.

    A node that is not a key of *graph* has no successors.
    """
    done: set[int] = set()
    heads: set[int] = set()
    for start in graph:
        if start in done:
            continue
        # The keys are the nodes on the path from the start, in order.
        path = {start: iter(graph[start])}
        while path:
            node = next(reversed(path))
            successor = next(path[node], None)
            if successor is None:
                path.popitem()
                done.add(node)
            elif successor in path:
                if successor not in heads:
                    heads.add(successor)
                    nodes = list(path)
                    yield nodes[nodes.index(successor) :]
            elif successor not in done:
                path[successor] = iter(graph.get(successor, ()))


class SchemaContext:
    """A decoded schema with its dialect and documents, before the checks."""

    def __init__(self, source: SchemaSource, limits: Limits) -> None:
        if len(source.json) > limits.schema_bytes:
            raise limit_exceeded_error(
                "schema_bytes", limits.schema_bytes, "the schema", len(source.json)
            )
        self.schema = _decode(source.json, "the schema", limits)
        self.documents = _decode_documents(source.documents, limits)
        self._dialects: dict[str, Dialect] = {}
        default = dialect_named(source.default_dialect, self.documents.get)
        try:
            self.dialect = self.dialect_of(self.schema, default)
        except RequestError as error:
            violation = Violation("/$schema", "", "", error.reason.value, error.message)
            raise RequestError(error.reason, error.message, error.metadata, (violation,)) from None
        #: Whether the schema may have anchors or embedded resources.
        self.may_have_parts = may_declare_identifiers(source.json, self.dialect)

    def dialect_of(self, schema: JsonValue, parent: Dialect) -> Dialect:
        """Return the dialect that a resource declares, or the dialect *parent* around it."""
        declared = schema.get("$schema") if isinstance(schema, dict) else None
        dialect = self._dialects.get(declared) if isinstance(declared, str) else None
        if dialect is None:
            dialect = dialect_of(schema, parent, self.documents.get)
            if isinstance(declared, str):
                self._dialects[declared] = dialect
        return dialect


@dataclass(frozen=True, slots=True)
class AdmittedSchema:
    """A schema that passed all checks, with its references resolved."""

    context: SchemaContext
    #: None for the schemas ``true`` and ``false``.
    survey: Survey | None
    #: Whether a pattern needs backtracking, so that evaluation time has no bound.
    backtracking: bool
    #: Memory of all patterns, in bytes.
    pattern_memory: int
    #: Size of all patterns, in RE2 instructions.
    pattern_instructions: int


def read_source(source: SchemaSource, limits: Limits) -> SchemaContext:
    """Decode the schema of *source* with its dialect and documents.

    Raises:
        RequestError: LIMIT_EXCEEDED, SCHEMA_NOT_JSON, UNSUPPORTED_DIALECT, INVALID_REQUEST
            if two documents have the same URI, or INVALID_SCHEMA if it is neither an
            object nor a boolean.
    """
    return SchemaContext(source, limits)


def admit_schema(
    source: SchemaSource, limits: Limits, *, is_known_valid: bool = False
) -> AdmittedSchema:
    """Check the schema of *source*, and return it with its references resolved.

    With *is_known_valid*, it is not checked against its meta-schema.

    Raises:
        RequestError: as `read_source`, and INVALID_SCHEMA, INVALID_PATTERN,
            UNSUPPORTED_PATTERN, UNRESOLVABLE_REFERENCE or REFERENCE_CYCLE: the first fault
            in document order, with all faults as violations.
    """
    context = read_source(source, limits)
    try:
        admission = _Admission(context, limits, is_known_valid=is_known_valid)
        survey = admission.admit(context.schema, context.dialect)
    except RecursionError:
        raise recursion_depth_error(
            "the schema and its meta-schemas nest too deeply to check"
        ) from None
    patterns = admission.patterns
    return AdmittedSchema(
        context, survey, patterns.backtracking, patterns.memory, patterns.instructions
    )


class _Admission:
    """Admission of a schema and of the meta-schemas among its documents."""

    def __init__(self, context: SchemaContext, limits: Limits, *, is_known_valid: bool) -> None:
        self.context = context
        self.limits = limits
        self.is_known_valid = is_known_valid
        self.patterns = PatternAdmission(limits)
        #: Errors of the unpublished dialects by URI; None for admitted dialects.
        self.dialects: dict[str, RequestError | None] = {}

    def admit(self, schema: JsonValue, dialect: Dialect) -> Survey | None:
        context = self.context
        may_have_parts = schema is not context.schema or context.may_have_parts
        resources = Resources(
            schema, dialect, context.documents, context.dialect_of, may_have_parts=may_have_parts
        )
        faults = SchemaFaults(schema)
        root = Subschema(schema if isinstance(schema, dict) else {}, resources.root)
        survey = None
        self.check(schema, root, resources, faults)
        if isinstance(schema, dict):
            survey = survey_schema(
                resources,
                lambda part: self.check(part.schema, part, resources, faults),
                self.limits,
            )
            faults.add_all(find_reference_faults(survey, resources))
            faults.add_all(self.pattern_faults(survey))
            faults.add_all(find_cycle_faults(survey))
        faults.raise_if_any()
        return survey

    def check(
        self, schema: JsonValue, subschema: Subschema, resources: Resources, faults: SchemaFaults
    ) -> None:
        """Check *schema*, at *subschema*, against its meta-schema; admit that first."""
        if self.is_known_valid:
            return
        dialect = subschema.dialect
        if dialect.uri not in DIALECTS:
            if dialect.uri not in self.dialects:
                self.dialects[dialect.uri] = self.dialect_error(dialect)
            error = self.dialects[dialect.uri]
            if error is not None:
                within = "/$schema" if "$schema" in subschema.schema else ""
                faults.add_all([SchemaFault(subschema, within, error)])
                return
        faults.add_all(
            find_meta_schema_faults(
                schema,
                subschema,
                resources,
                self.context.documents,
                self.context.dialect_of,
                explained=not faults.is_full,
            )
        )

    def dialect_error(self, dialect: Dialect) -> RequestError | None:
        """Return why the meta-schema of *dialect* is not admitted, or None if it is."""
        # Set before the check, which is recursive: the meta-schema may contain schemas of the
        # same dialect.
        self.dialects[dialect.uri] = None
        meta_schema = dialect.own_meta_schema
        try:
            self.admit(meta_schema, self.context.dialect_of(meta_schema, DEFAULT_DIALECT))
        except RequestError as error:
            return _meta_schema_error(error, dialect)
        return None

    def pattern_faults(self, survey: Survey) -> Iterator[SchemaFault]:
        for subschema in survey.reached.values():
            if not _PATTERNS.isdisjoint(subschema.schema):
                for path, error in self.patterns.admit(subschema):
                    yield SchemaFault(subschema, as_pointer(path), error)


def _meta_schema_error(error: RequestError, dialect: Dialect) -> RequestError:
    if "meta_schema" in error.metadata:
        return error
    return RequestError(
        error.reason,
        f"the meta-schema {dialect.uri[:200]}: {error.message}",
        {**error.metadata, "meta_schema": dialect.uri},
    )


_PATTERNS = frozenset({"pattern", "patternProperties"})
"""The keywords with patterns in their values."""


class PatternAdmission:
    """Admission of the patterns of a schema, with a limit on their total size."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._admitted: set[str] = set()
        self.instructions = 0
        #: Whether a pattern needs backtracking.
        self.backtracking = False
        #: Memory of all patterns, in bytes.
        self.memory = 0

    def admit(self, subschema: Subschema) -> Iterator[tuple[tuple[str, ...], RequestError]]:
        """Yield path and error of each rejected pattern of *subschema*.

        Nested subschemas are not searched. The errors are INVALID_PATTERN,
        UNSUPPORTED_PATTERN or LIMIT_EXCEEDED.
        """
        schema, dialect = subschema.schema, subschema.dialect
        if "$ref" in schema and dialect.reference_hides_siblings:
            return
        in_force = dialect.keywords
        pattern_properties = schema.get("patternProperties")
        patterns: list[tuple[JsonValue, tuple[str, ...]]] = []
        if "pattern" in in_force and "pattern" in schema:
            patterns.append((schema["pattern"], ("pattern",)))
        if "patternProperties" in in_force and isinstance(pattern_properties, dict):
            patterns += [(source, ("patternProperties", source)) for source in pattern_properties]
        for source, path in patterns:
            if isinstance(source, str) and source not in self._admitted:
                try:
                    self._admit(source, subschema.place + as_pointer(path))
                    self._admitted.add(source)
                except RequestError as error:
                    yield path, error

    def _admit(self, source: str, place: str) -> None:
        limits = self._limits
        if self.instructions > limits.pattern_instructions:
            return  # The excess is reported once; further patterns would cost time and memory.
        try:
            pattern = compile_pattern(source, limits)
        except PatternError as error:
            reason, fault = _PATTERN_FAULTS[error.fault]
            metadata = {"place": place, "offset": str(error.offset)}
            if reason is ErrorReason.LIMIT_EXCEEDED:
                metadata |= {"bound": error.bound, "limit": str(error.limit)}
            message = f"the pattern at {place} {fault}: {error.message}"
            raise RequestError(reason, message, metadata) from None
        self.memory += pattern.memory
        if pattern.cost >= UNBOUNDED:
            self.backtracking = True
            return
        self.instructions += pattern.cost
        if self.instructions > limits.pattern_instructions:
            raise limit_exceeded_error(
                "pattern_instructions",
                limits.pattern_instructions,
                "the patterns of the schema are too large together once compiled",
            )


_PATTERN_FAULTS = {
    PatternFault.SYNTAX: (ErrorReason.INVALID_PATTERN, "is not a regular expression of ECMA-262"),
    PatternFault.NOT_LINEAR: (ErrorReason.UNSUPPORTED_PATTERN, "cannot be matched in linear time"),
    PatternFault.TOO_LARGE: (ErrorReason.LIMIT_EXCEEDED, "is too large"),
}


def _decode(text: bytes, subject: str, limits: Limits) -> JsonValue:
    try:
        value = decode(text, max_depth=limits.schema_depth, depth_bound="schema_depth")
    except MalformedError as error:
        first = error.violations[0]
        location = f" (at {first.instance_location})" if first.instance_location else ""
        raise RequestError(
            ErrorReason.SCHEMA_NOT_JSON,
            f"{subject}: {first.message}{location}",
            {"code": first.code},
        ) from None
    if not isinstance(value, dict | bool):
        raise RequestError(
            ErrorReason.INVALID_SCHEMA, f"{subject} must be a JSON object or a boolean"
        )
    return value


def _decode_documents(documents: tuple[Document, ...], limits: Limits) -> dict[str, JsonValue]:
    if len(documents) > limits.documents:
        raise limit_exceeded_error("documents", limits.documents, "the documents", len(documents))
    size = sum(len(document.json) for document in documents)
    if size > limits.documents_bytes:
        raise limit_exceeded_error("documents_bytes", limits.documents_bytes, "the documents", size)
    decoded: dict[str, JsonValue] = {}
    for document in documents:
        uri = document.uri.removesuffix("#")
        if uri in decoded:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"two documents have the URI {uri[:200]}",
                {"uri": uri[:200]},
            )
        decoded[uri] = _decode(document.json, f"the document {uri[:200]}", limits)
    return decoded
