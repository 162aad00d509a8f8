"""Reference loops: those that would judge one place of a payload for ever."""

from collections.abc import Iterable, Iterator, Mapping

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.references import REFERENCES, Subschema, Survey

__all__ = ["refuse_endless_references"]

# Applicators that judge the same place of the payload again (2020-12 core, 10.2).
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


def refuse_endless_references(survey: Survey) -> None:
    """Refuse a schema that could judge one place of a payload for ever.

    Raises:
        Refusal: REFERENCE_CYCLE if references and in-place applicators form a
            cycle (2020-12 core, section 9.4.1).
    """
    graph = {key: list(_successors(here, survey)) for key, here in survey.reached.items()}
    cycle = _on_a_cycle(graph)
    if cycle is not None:
        place = survey.reached[cycle].place or "the root"
        raise RequestError(
            ErrorReason.REFERENCE_CYCLE,
            f"the references at {place} lead back to it without going deeper into the payload, "
            "so no judgement would end",
            {"place": survey.reached[cycle].place},
        )


def _successors(here: Subschema, survey: Survey) -> Iterator[int]:
    """Yield the subschemas that judge the same place of a payload as *here*."""
    for keyword in REFERENCES:
        reference = survey.references.get((id(here.schema), keyword))
        if reference is not None and id(reference.target) in survey.reached:
            yield id(reference.target)
    if "$ref" in here.schema and here.dialect.reference_hides_siblings:
        return
    for path, value in subschemas(here.schema, here.dialect.draft):
        # Without `if`, nothing applies them (draft-07 validation, section 6.6).
        applied = path[0] in _IN_PLACE and (path[0] not in ("then", "else") or "if" in here.schema)
        if isinstance(value, dict) and applied:
            yield id(value)


def _on_a_cycle(graph: Mapping[int, Iterable[int]]) -> int | None:
    """Return a node that leads back to itself, or None."""
    done: set[int] = set()
    for start in graph:
        if start in done:
            continue
        path = {start}
        stack = [(start, iter(graph[start]))]
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                path.discard(node)
                done.add(node)
            elif following in path:
                return following
            elif following not in done:
                path.add(following)
                stack.append((following, iter(graph[following])))
    return None
