"""Reference loops: endless ones are refused, others make judging count its steps."""

from collections.abc import Iterator, Mapping

from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.references import REFERENCES, Subschema, Survey

__all__ = ["refuse_endless_references", "unbounded"]

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

_PATHS = 10_000
"""More paths than this through the references of a schema count as unbounded work."""


def refuse_endless_references(survey: Survey) -> None:
    """Refuse a schema that could judge one place of a payload for ever.

    Raises:
        Refusal: ENDLESS_REFERENCE if references and in-place applicators form a
            cycle (2020-12 core, section 9.4.1).
    """
    graph = {
        key: list(_successors(here, survey, _IN_PLACE)) for key, here in survey.reached.items()
    }
    _, cycle = _paths(graph)
    if cycle is not None:
        place = survey.reached[cycle].place or "the root"
        raise Refusal(
            Reason.ENDLESS_REFERENCE,
            f"the references at {place} lead back to it without going deeper into the payload, "
            "so no judgement would end",
            {"place": survey.reached[cycle].place},
        )


def unbounded(survey: Survey) -> bool:
    """Whether the schema alone does not bound the steps that a payload may cost.

    So it is if references form a cycle, or if there are very many ways through
    them: then the same place of a payload may be judged very often.
    """
    graph = {key: list(_successors(here, survey, None)) for key, here in survey.reached.items()}
    most, cycle = _paths(graph)
    return cycle is not None or most > _PATHS


def _successors(here: Subschema, survey: Survey, only: frozenset[str] | None) -> Iterator[int]:
    for keyword in REFERENCES:
        reference = survey.references.get((id(here.schema), keyword))
        if reference is not None and id(reference.target) in survey.reached:
            yield id(reference.target)
    if here.dialect.reference_hides_siblings and "$ref" in here.schema:
        return
    for path, value in subschemas(here.schema, here.dialect.draft):
        # Definitions are judged where references lead to them, not where they stand.
        applied = path[0] not in ("$defs", "definitions", "contentSchema")
        # Without `if`, nothing applies them (draft-07 validation, section 6.6).
        applied = applied and (path[0] not in ("then", "else") or "if" in here.schema)
        if isinstance(value, dict) and applied and (only is None or path[0] in only):
            yield id(value)


def _paths(graph: Mapping[int, list[int]]) -> tuple[int, int | None]:
    """Return the largest number of paths from any node, and a node on a cycle."""
    paths: dict[int, int] = {}
    active: set[int] = set()
    for start in graph:
        if start in paths:
            continue
        stack = [(start, iter(graph[start]))]
        active.add(start)
        total = {start: 1}
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                active.discard(node)
                paths[node] = min(total[node], _PATHS * 10)
                if stack:
                    total[stack[-1][0]] += paths[node]
            elif following in active:
                return 0, following
            elif following in paths:
                total[node] += paths[following]
            else:
                active.add(following)
                total[following] = 1
                stack.append((following, iter(graph[following])))
    return max(paths.values(), default=0), None
