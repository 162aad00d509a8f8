"""Losses: differences between a definition or result and its converted form."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Effect", "Loss", "LossAction"]


class LossAction(StrEnum):
    """Treatment of a part that the conversion could not keep unchanged."""

    #: The part is kept, but the API ignores it.
    KEPT = "kept"
    #: The part is described in the description.
    DESCRIBED = "described"
    #: The part is expressed differently.
    REWRITTEN = "rewritten"
    #: Payloads have another form at this location; the mapping converts them back.
    ENCODED = "encoded"
    #: The part is omitted.
    DROPPED = "dropped"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


class Effect(StrEnum):
    """Effect of a loss on the set of admitted payloads, after the mapping is applied."""

    #: The same payloads are admitted.
    EQUIVALENT = "equivalent"
    #: More payloads are admitted; `convert_tool_call` validates against the original.
    WIDENED = "widened"
    #: Fewer payloads are admitted: the model cannot make some valid calls.
    NARROWED = "narrowed"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A part of a definition or result that a conversion could not keep unchanged."""

    #: JSON Pointer into the definition or result.
    pointer: str
    #: The keyword, or the property of the definition; "" if the pointer suffices.
    keyword: str
    action: LossAction
    effect: Effect
    #: Description for people.
    message: str
