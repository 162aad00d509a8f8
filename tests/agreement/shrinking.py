"""Makes what shows a finding as small as it can be."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agreement.judges import Finding, Judges, summon
from sidecheck_server.core.errors import RequestError

__all__ = ["shrunk"]

_ATTEMPTS = 3000


def shrunk(finding: Finding) -> Finding:
    """Return the smallest finding of the same kind that removing parts leads to.

    Greedily, and with a bounded number of attempts. A finding that its question does
    not show by itself is returned as it is.
    """
    question = finding.question
    parts = {"schema": question.schema, "documents": question.documents}
    if finding.payload is not None:
        parts["payload"] = json.loads(finding.payload)
    candidates = _smaller_parts(parts)
    for _ in range(_ATTEMPTS):
        candidate = next(candidates, None)
        if candidate is None:
            break
        seen = _look(candidate, finding)
        if seen is not None:
            finding = seen
            candidates = _smaller_parts(candidate)
    return finding


def _look(parts: dict[str, Any], before: Finding) -> Finding | None:
    """Return a finding of the kind of *before* that *parts* show."""
    documents = parts["documents"]
    if not all(isinstance(contents, dict) for contents in documents.values()):
        return None
    question = replace(before.question, schema=parts["schema"], documents=documents)
    judges = summon(question)
    if isinstance(judges, Judges) and before.payload is not None:
        return next(
            (
                found
                for found in judges.examine(json.dumps(parts["payload"]))
                if found.kind == before.kind
            ),
            None,
        )
    if isinstance(judges, Finding):
        return judges if judges.kind == before.kind else None
    if isinstance(judges, RequestError) and str(judges).split()[:4] == before.detail.split()[:4]:
        # A schema that is refused, though jsonschema-rs takes it.
        return _taken_by_oracle(replace(before, detail=str(judges), question=question))
    return None


def _taken_by_oracle(finding: Finding) -> Finding | None:
    question = finding.question
    try:
        question.edition.oracle(question.schema, question.documents)
    except ValueError:
        return None
    return finding


def _smaller_parts(parts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    # Down in both at once: what stands under a keyword judges what stands in the payload.
    for payload in _below(parts.get("payload")):
        for under in _below(parts["schema"]):
            for schema in (under, *_below(under)):
                yield {**parts, "schema": schema, "payload": payload}
    for name, value in parts.items():
        for smaller in _smaller(value):
            if name != "documents" or isinstance(smaller, dict):
                yield {**parts, name: smaller}


def _below(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _smaller(value: Any) -> Iterator[Any]:
    """Yield JSON values that are a little smaller than *value*, the smallest first."""
    yield from _below(value)
    if isinstance(value, dict):
        for items in _smaller_items(list(value.items())):
            yield dict(items)
    elif isinstance(value, list):
        for items in _smaller_items(list(enumerate(value))):
            yield [item for _, item in items]
    elif isinstance(value, str) and len(value) > 1:
        yield from (value[:1], value[: len(value) // 2])
    elif isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1):
        yield from (0, 1)


def _smaller_items(items: list[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
    for index in range(len(items)):
        yield items[:index] + items[index + 1 :]
    for index, (step, below) in enumerate(items):
        for smaller in _smaller(below):
            yield [*items[:index], (step, smaller), *items[index + 1 :]]
