"""Reduction of a disagreement to the smallest schema and payload."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agreement.engines import Engines, Finding, create_engines
from sidecheck_server.core.errors import RequestError

__all__ = ["shrunk"]

_ATTEMPTS = 3000


def shrunk(finding: Finding) -> Finding:
    """Return a finding of the same kind with parts of its schema and payload removed.

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
        smaller = _look(candidate, finding)
        if smaller is not None:
            finding = smaller
            candidates = _smaller_parts(candidate)
    return finding


def _look(parts: dict[str, Any], original: Finding) -> Finding | None:
    """Return a finding about *parts* of the same kind as *original*, or None."""
    documents = parts["documents"]
    if not all(isinstance(contents, dict) for contents in documents.values()):
        return None
    question = replace(original.question, schema=parts["schema"], documents=documents)
    engines = create_engines(question)
    if isinstance(engines, Engines) and original.payload is not None:
        return next(
            (
                finding
                for finding in engines.examine(json.dumps(parts["payload"]))
                if finding.kind == original.kind
            ),
            None,
        )
    if isinstance(engines, Finding):
        return engines if engines.kind == original.kind else None
    if (
        isinstance(engines, RequestError)
        and str(engines).split()[:4] == original.detail.split()[:4]
    ):
        # The engines reject a schema that jsonschema-rs accepts.
        return _accepted_by_oracle(replace(original, detail=str(engines), question=question))
    return None


def _accepted_by_oracle(finding: Finding) -> Finding | None:
    question = finding.question
    try:
        question.edition.oracle(question.schema, question.documents)
    except ValueError:
        return None
    return finding


def _smaller_parts(parts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    # A subschema applies to a part of the payload, so both are reduced together.
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
    """Yield JSON values that are slightly smaller than *value*, the smallest first."""
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
    for index, (step, child) in enumerate(items):
        for smaller in _smaller(child):
            yield [*items[:index], (step, smaller), *items[index + 1 :]]
