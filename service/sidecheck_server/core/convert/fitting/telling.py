"""Telling: what is put in words, both for the model and in the record."""

import json
from typing import Any

from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["describe", "drop", "json_text", "shown"]

_LONGEST = 200
"""Characters of one value in a description."""


def json_text(value: Any) -> str:
    """Return the shortest JSON text of *value*."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown(value: Any) -> str:
    """Return *value* as JSON text of at most 200 characters, or the beginning of it."""
    text = json_text(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def describe(
    part: Part, fitting: Fitting, keyword: str, said: str, direction: Direction = Direction.WIDER
) -> None:
    """Take *keyword* from *part*, and have its description say what it *said*."""
    part.keywords.pop(keyword, None)
    if said not in part.notes:
        part.notes.append(said)
    told = f"the description says it instead: {said}"
    fitting.record.tell(part, keyword, Action.DESCRIBED, direction, told)


def drop(
    part: Part,
    fitting: Fitting,
    keyword: str,
    why: str,
    direction: Direction = Direction.SAME,
) -> None:
    """Take *keyword* from *part* and tell *why*."""
    part.keywords.pop(keyword, None)
    fitting.record.tell(part, keyword, Action.DROPPED, direction, why)
