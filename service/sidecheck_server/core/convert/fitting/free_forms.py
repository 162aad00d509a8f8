"""Free forms: values of any form, which an API takes only as their JSON text."""

from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.fitting.telling import describe, drop
from sidecheck_server.core.convert.fitting.types import ANNOTATIONS, SPEAKS_OF, or_null, types_of
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["as_json_text", "describe_rest", "is_free", "restricts_nothing"]


def is_free(part: Part) -> bool:
    """Return whether *part* admits everything."""
    return not part.never and not part.undo.json_text and part.keywords.keys() <= ANNOTATIONS


def as_json_text(part: Part, fitting: Fitting, what: str) -> None:
    """Have the value at *part*, which is *what* in words, given as its JSON text.

    What the part says beyond its type is told in the description. Null, where it is
    admitted beside, stays null.
    """
    describe_rest(part, fitting, {"type"})
    part.keywords = {**part.keywords, "type": or_null("string", types_of(part))}
    part.undo.json_text = True
    part.notes.append(f"{what}, as JSON text")
    said = f"the API takes {what} only as a string that holds its JSON text"
    fitting.record.tell(part, "", Action.ENCODED, Direction.SAME, said)


def describe_rest(part: Part, fitting: Fitting, but: set[str]) -> None:
    """Describe all that *part* says of values of another form than it will have.

    That is every keyword *but* those given and those that speak of no form.
    """
    for keyword, value in list(part.keywords.items()):
        if keyword in but or (keyword in ANNOTATIONS and keyword not in _OF_FORM):
            continue
        if keyword not in part.keywords:
            continue  # It went along with another one.
        direction = Direction.SAME if keyword in ANNOTATIONS else Direction.WIDER
        if restricts_nothing(keyword, value):
            drop(part, fitting.record, keyword, "it restricts nothing")
        else:
            describe(part, fitting.record, keyword, direction=direction)


_OF_FORM = {"default", "examples", *SPEAKS_OF}


_NOT_IF_FREE = ("not", "if", "contains")
"""Keywords that say something even of a schema that admits everything."""
_NOT_IF_ZERO = ("uniqueItems", "minLength", "minItems", "minProperties")
"""Keywords that say nothing with false or zero; of bounds above, zero says much."""


def restricts_nothing(keyword: str, value: object) -> bool:
    """Return whether *keyword* with that *value* admits everything."""
    if isinstance(value, Part):
        return is_free(value) and keyword not in _NOT_IF_FREE
    if keyword in _NOT_IF_ZERO:
        return not value
    return value in ({}, []) and keyword != "enum"
