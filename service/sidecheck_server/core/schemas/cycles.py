"""Cycles of references and in-place applicators, on which evaluation would not terminate."""

from collections.abc import Iterable, Iterator, Mapping

from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.references import REFERENCES, Subschema, Survey

__all__ = ["find_reference_cycles"]

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
