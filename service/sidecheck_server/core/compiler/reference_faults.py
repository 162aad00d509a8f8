"""Faults of references: without a target, ambiguous, in an unknown dialect, or cyclic.

A cycle of references and in-place applicators is a fault: evaluation would not terminate.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from urllib.parse import unquote

from sidecheck_server.core.compiler.schema_faults import SchemaFault
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.references import (
    REFERENCES,
    Subschema,
    Survey,
    UnresolvedReference,
    shorten_start,
)
from sidecheck_server.core.schemas.resources import PUBLISHED, Conflict, Resource, Resources
from sidecheck_server.core.types import JsonValue, as_pointer, pointer_steps

__all__ = ["find_cycle_faults", "find_reference_cycles", "find_reference_faults"]

_MOST_SUGGESTIONS = 20
"""Most references for which a similar target is searched, each about a millisecond."""

_WHERE_REFERENCES_LEAD = (
    "references resolve within the schema and the documents sent along, and nothing is ever fetched"
)
_DEFINITIONS = ("$defs", "definitions")
_SHOWN_STEPS = 8
"""Most steps of a cycle in a message."""


def find_reference_faults(survey: Survey, resources: Resources) -> Iterator[SchemaFault]:
    """Yield the faults that kept *survey* from being complete."""
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
        # It is in a document, of which no subschema needs to be reached.
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
    remedy = f"did you mean {suggestion!r}?" if suggestion else _WHERE_REFERENCES_LEAD
    error = RequestError(
        ErrorReason.UNRESOLVABLE_REFERENCE,
        f"the {keyword} {shorten_start(uri)} at {subschema.place or 'the root'} cannot be "
        f"resolved: {unresolved.fault}; {remedy}",
        {"reference": shorten_start(uri), "place": subschema.place},
    )
    return SchemaFault(subschema, f"/{keyword}", error, suggestion=suggestion)


def _suggest(uri: str, resource: Resource) -> str:
    """Return the reference in *resource* that *uri* may be a misspelling of, or "".

    The last part of *uri* is compared with the names beside the missing one, then with
    those of all definitions, then with the anchors.
    """
    _, _, fragment = uri.rpartition("#")
    # An anchor has no slash, and is its only step.
    name = pointer_steps(f"/{unquote(fragment.rstrip('/'))}")[-1]
    container, path = _reached_by(fragment, resource.contents)
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


def _reached_by(fragment: str, contents: JsonValue) -> tuple[JsonValue, tuple[str, ...]]:
    """Return what the start of the pointer *fragment* leads to, without its last step."""
    here, path = contents, []
    for step in pointer_steps(unquote(fragment))[:-1]:
        if not isinstance(here, dict) or step not in here:
            return None, ()
        here = here[step]
        path.append(step)
    return here, tuple(path)


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
    """Return the way around *cycle*, as ``/$defs/a, /$defs/b, and again /$defs/a``."""
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

    Each begins with the subschema to which evaluation returns, and no two with the same.
    There is none exactly if evaluation always terminates.
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
    """Yield cycles in *graph* by their nodes, no two with the same first node.

    A node that is no key has no successors.
    """
    done: set[int] = set()
    heads: set[int] = set()
    for start in graph:
        if start in done:
            continue
        # The keys are the nodes on the way from the start, in order.
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
                    way = list(path)
                    yield way[way.index(successor) :]
            elif successor not in done:
                path[successor] = iter(graph.get(successor, ()))
