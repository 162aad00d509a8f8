"""Neighbours: where payloads may be encoded, one schema alone says which form a value has.

A value has one form. If a union and the schema around it each encoded it, or closed it,
each in its own way, no value would do for both.
"""

from typing import Any

from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.gathering import gather
from sidecheck_server.core.convert.fitting.telling import describe, drop
from sidecheck_server.core.convert.fitting.types import (
    ANNOTATIONS,
    SPEAKS_OF,
    common_types,
    encodes,
    pushed,
    types_of,
)
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["RULES"]

_VOICES = ("$ref", "anyOf", "oneOf", "allOf")
"""What else says of the same value which form it has, as it is preferred."""
_BESIDE = (*_VOICES, "then", "else", "if", "dependentSchemas")


def _one_voice(part: Part, fitting: Fitting) -> None:
    """Leave one schema that says which form a value has."""
    keywords = part.keywords
    voices = [each for each in _VOICES if each in keywords]
    if not encodes(fitting.subset) or not (voices or "then" in keywords or "else" in keywords):
        return
    own = {each: value for each, value in keywords.items() if _asserts(each)}
    if any(SPEAKS_OF.get(each) == "object" for each in own) or _several_objects(part, own):
        gather(part, fitting)
        _silence(part, fitting, [each for each in _BESIDE if each in keywords])
    elif not voices:
        return
    elif not own:
        _silence(part, fitting, voices[1:])
        _only_branch(part, fitting)
    elif any(SPEAKS_OF.get(each) == "array" for each in own):
        _silence(part, fitting, voices)
    else:
        _silence(part, fitting, voices[1:])
        _of_simple(part, fitting, voices[0], own)


def _asserts(keyword: str) -> bool:
    return keyword in ("type", "enum", "const") or (
        keyword in SPEAKS_OF and keyword not in ANNOTATIONS and keyword != "dependentSchemas"
    )


def _several_objects(part: Part, own: dict[str, Any]) -> bool:
    """Return whether several parts that must hold speak of one object."""
    must = list(part.keywords.get("allOf", ()))
    must += [part.keywords["$ref"]] if "$ref" in part.keywords else []
    of_objects = [
        each for each in must if "object" in types_of(each) or "properties" in each.keywords
    ]
    return bool(of_objects) and len(must) + bool(own.keys() - {"type"}) > 1


def _silence(part: Part, fitting: Fitting, keywords: list[str]) -> None:
    """Drop *keywords* of *part*, which speak of the same value, but tell of them."""
    for keyword in keywords:
        value = part.keywords[keyword]
        if isinstance(value, Part) or keyword in ("allOf", "dependentSchemas"):
            said = "what it says of members stands here; the rest is left out"
            drop(part, fitting.record, keyword, said, Direction.WIDER)
        else:
            describe(part, fitting.record, keyword)


def _only_branch(part: Part, fitting: Fitting) -> None:
    """Say as a union what is the only one of `allOf`, or the first of several."""
    if "allOf" in part.keywords:
        first, *others = part.keywords["allOf"]
        direction = Direction.WIDER if others else Direction.SAME
        part.keywords = {
            ("anyOf" if keyword == "allOf" else keyword): [first] if keyword == "allOf" else value
            for keyword, value in part.keywords.items()
        }
        said = "the first of its schemas stands alone"
        fitting.record.tell(part, "allOf", Action.REWRITTEN, direction, said)


def _of_simple(part: Part, fitting: Fitting, voice: str, own: dict[str, Any]) -> None:
    """Say what a part says of simple values in each branch beside it."""
    if voice in ("anyOf", "oneOf"):
        if own.keys() == {"type"}:
            direction = pushed(part, types_of(part)) or Direction.SAME
        else:
            direction = _distributed(part, voice, own)
        said = f"the branches of {voice} say it"
        for keyword in own:
            fitting.record.tell(part, keyword, Action.REWRITTEN, direction, said)
    elif voice == "allOf":
        _silence(part, fitting, [voice])
    else:
        there = types_of(part.keywords["$ref"])
        for keyword in own:
            if keyword == "type" and there and common_types(there, types_of(part)) == there:
                part.keywords.pop(keyword)
            else:
                describe(part, fitting.record, keyword)


def _distributed(part: Part, voice: str, own: dict[str, Any]) -> Direction:
    """State *own* keywords in each branch; what a branch says itself goes first."""
    direction = Direction.SAME
    branches: list[Part] = []
    for branch in part.keywords[voice]:
        said = branch.keywords
        if branch.never:
            continue
        if any(each in said for each in _VOICES):
            direction = Direction.WIDER
            branches.append(branch)
            continue
        if any(keyword in said and said[keyword] != own[keyword] for keyword in own):
            direction = Direction.WIDER
        keywords = {**{each: own[each] for each in own if each not in said}, **said}
        both = common_types(types_of(part), types_of(branch))
        if both:
            keywords["type"] = both[0] if len(both) == 1 else both
        branches.append(Part(branch.at, keywords, notes=list(branch.notes), name=branch.name))
    part.keywords = {
        keyword: (branches or value) if keyword == voice else value
        for keyword, value in part.keywords.items()
        if keyword not in own
    }
    return direction


RULES: tuple[Rule, ...] = (_one_voice,)
