"""Telling: what a subset cannot say is put in words, both for the model and in the record."""

from sidecheck_server.core.convert.fitting.phrases import phrase_of
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["GROUPS", "describe", "drop", "free", "note"]

GROUPS = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}
"""Keywords that go along with another one."""

_EVALUATING = (
    *("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref"),
    "contains",
)
"""Applicators whose branches evaluate members and items of the same value."""


def note(part: Part, said: str) -> None:
    """Have the description of *part* tell what was *said*."""
    if said not in part.notes:
        part.notes.append(said)


def describe(
    part: Part,
    record: Record,
    keyword: str,
    said: str = "",
    *,
    why: str = "",
    direction: Direction = Direction.WIDER,
) -> None:
    """Take *keyword*, and what goes along with it, from *part*; its description says it.

    That is what was *said*, or else what the keyword says. *why* is told where it is not
    plain. What depends on the keyword, ``unevaluated*``, goes too.
    """
    if keyword == "if" and not {"then", "else"} & part.keywords.keys():
        drop(part, record, keyword, "says nothing without then and else")
    else:
        said = said or phrase_of(keyword, part.keywords)
        for name in GROUPS.get(keyword, (keyword,)):
            part.keywords.pop(name, None)
        note(part, said)
        told = f"the description says it instead: {said}"
        told = f"{why}; {told}" if why else told
        record.tell(part, keyword, Action.DESCRIBED, direction, told)
    if keyword in _EVALUATING:
        free(part, record)


def drop(
    part: Part, record: Record, keyword: str, why: str, direction: Direction = Direction.SAME
) -> None:
    """Take *keyword* from *part* and tell *why*."""
    part.keywords.pop(keyword, None)
    record.tell(part, keyword, Action.DROPPED, direction, why)


def free(part: Part, record: Record) -> None:
    """Take ``unevaluated*`` from *part*: what was left out no longer evaluates anything."""
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        if keyword in part.keywords:
            describe(part, record, keyword, why="what it depends on cannot be kept")
