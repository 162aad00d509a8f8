"""Leaving out: what a subset cannot say is told to the model in words."""

from sidecheck_server.core.convert.fitting.outlines import said_of
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["GROUPS", "free", "leave_out", "note"]

GROUPS = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}
"""Keywords that go along with another one."""

_IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref")
"""Applicators whose branches evaluate members and items of the same value."""


def note(part: Part, said: str) -> None:
    """Have the description of *part* tell what was *said*."""
    if said not in part.notes:
        part.notes.append(said)


def leave_out(part: Part, keyword: str, why: str, record: Record) -> None:
    """Take the assertion *keyword*, and what goes along with it, from *part*; describe it.

    More is admitted then, except beside ``unevaluated*``, which goes too.
    """
    bare = keyword == "if" and not {"then", "else"} & part.keywords.keys()
    said = said_of(keyword, part.keywords)
    for name in GROUPS.get(keyword, (keyword,)):
        part.keywords.pop(name, None)
    if bare:
        why = "says nothing without then and else"
        record.tell(part, keyword, Action.DROPPED, Direction.SAME, why)
    else:
        note(part, said)
        record.tell(part, keyword, Action.DESCRIBED, Direction.WIDER, f"{why}; described: {said}")
    if keyword in _IN_PLACE or keyword == "contains":
        free(part, record)


def free(part: Part, record: Record) -> None:
    """Take ``unevaluated*`` from *part*: what was left out no longer evaluates anything."""
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        if keyword in part.keywords:
            leave_out(part, keyword, "what it depends on cannot be kept", record)
