"""Why a schema in a payload cannot be used, as violations of that payload."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Path
from sidecheck_server.core.mcp.rules.schema_errors import clause_of, sentence_of
from sidecheck_server.core.mcp.tools.problems import refusal_as_problems
from sidecheck_server.core.schemas.references import REFERENCES
from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["schema_problems"]

_FOLLOWED = re.compile(r"(/\$(?:ref|dynamicRef|recursiveRef)) -> ")


def schema_problems(
    refusal: RequestError, schema: Any, path: Path, context: Context
) -> Iterator[Violation]:
    """Yield a violation for each fault by which *schema*, at *path*, led to *refusal*.

    It stands at the very place of the fault, if that is in *schema* and known.
    """
    inside = () if refusal.violations else _place_in(schema, refusal)
    clause = clause_of(refusal.reason, context.version)
    for problem in refusal_as_problems(refusal, as_pointer((*path, *inside))):
        told = replace(problem, clause=clause)
        if context.hide_values:
            broken = f"the keyword {problem.keyword} of its meta-schema refuses it"
            said = broken if problem.keyword else sentence_of(refusal.reason)
            told = replace(told, message=said, suggestion="")
        yield told


def _place_in(schema: Any, refusal: RequestError) -> Path:
    """Return the way in *schema* to what *refusal* is about, or () if there is none."""
    here: Any = schema
    path: list[str] = []
    place = refusal.metadata.get("place")
    # The beginning of a long way is cut off; in a document, it is the document's URI.
    if place is None or (place and not place.startswith("/")):
        return ()
    # What only a reference leads to is told at the reference.
    if followed := _FOLLOWED.search(place):
        place = place[: followed.end(1)]
    for step in place.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and key in here:
            here = here[key]
            path.append(key)
        elif (
            isinstance(here, list)
            and key.isascii()
            and key.isdecimal()
            and len(key) < 9
            and int(key) < len(here)
        ):
            here = here[int(key)]
            path.append(key)
        else:
            return ()
    return (*path, *_reference_in(here, refusal.metadata.get("reference", "")))


def _reference_in(schema: Any, reference: str) -> Path:
    """Return the keyword by which *schema* refers to *reference*, alone, or ()."""
    if not reference or not isinstance(schema, dict):
        return ()
    end = reference.removeprefix("…")
    for keyword in REFERENCES:
        if isinstance(schema.get(keyword), str) and schema[keyword].endswith(end):
            return (keyword,)
    return ()
