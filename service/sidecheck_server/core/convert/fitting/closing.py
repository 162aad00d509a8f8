"""Closing: no members but those declared, where an API demands that."""

from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.fitting.free_forms import is_free
from sidecheck_server.core.convert.fitting.telling import drop
from sidecheck_server.core.convert.fitting.types import types_of
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["close"]


def close(part: Part, fitting: Fitting) -> None:
    """Refuse members that are not declared, where the subset demands it."""
    keywords = part.keywords
    others: Part | None = keywords.get("additionalProperties")
    if not fitting.subset.closed:
        if fitting.subset.typed and others is not None and is_free(others):
            drop(part, fitting.record, "additionalProperties", "it restricts nothing")
        return
    if "object" not in types_of(part):
        return
    keywords.setdefault("properties", {})
    if others is None:
        fitting.record.tell_closed(part)
    elif not others.never:
        said = "members that are not declared are allowed, and cannot be given"
        told = Action.REWRITTEN, Direction.NARROWER, said
        fitting.record.tell(part, "additionalProperties", *told)
    if others is None or not others.never:
        keywords["additionalProperties"] = Part(part.at, never=True)
