"""What is left: keywords that an API does not take, and schemas that do not say their type."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.free_forms import as_json_text, restricts_nothing
from sidecheck_server.core.convert.fitting.telling import describe, drop
from sidecheck_server.core.convert.fitting.types import ANNOTATIONS, SPEAKS_OF, says_no_type
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["RULES"]

_ASSERTIONS = frozenset(
    {
        *(keyword for keyword in SPEAKS_OF if keyword not in ANNOTATIONS),
        *("type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    }
)
_WORTH_TELLING = ("contentEncoding", "contentMediaType")
"""Annotations without which a model could not know what a string has to hold."""
_DECLARING = ("properties", "patternProperties")
_REFERENCE = "$ref"
_IDLE_WITHOUT = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
"""Keywords that say nothing without another."""


def _rest(part: Part, fitting: Fitting) -> None:
    """Leave out what the subset does not take; what asserts something is described."""
    for keyword in [each for each in part.keywords if not _is_taken(each, fitting)]:
        if keyword not in part.keywords:
            continue  # It went along with another one.
        value = part.keywords[keyword]
        if keyword in _WORTH_TELLING:
            describe(part, fitting.record, keyword, direction=Direction.SAME)
        elif keyword not in _ASSERTIONS:
            drop(part, fitting.record, keyword, "the API does not take it")
        elif _is_idle(part, keyword, value):
            drop(part, fitting.record, keyword, "it restricts nothing")
        else:
            describe(part, fitting.record, keyword, _said(part, keyword, value))


def _said(part: Part, keyword: str, value: Any) -> str:
    closed = keyword == "additionalProperties" and value.never
    bare = closed and not any(part.keywords.get(each) for each in _DECLARING)
    return "no members" if bare else ""


def _is_taken(keyword: str, fitting: Fitting) -> bool:
    known = keyword == _REFERENCE or keyword in _ASSERTIONS or keyword in ANNOTATIONS
    return keyword == _REFERENCE or (known and fitting.takes(keyword))


def _is_idle(part: Part, keyword: str, value: Any) -> bool:
    needed = _IDLE_WITHOUT.get(keyword, keyword)
    return restricts_nothing(keyword, value) or needed not in part.keywords


def _any_value(part: Part, fitting: Fitting) -> None:
    """Have a value of any form given as JSON text, where every schema must say its type."""
    subset = fitting.subset
    untyped = says_no_type(part) and part is not fitting.root
    if untyped and (subset.typed or subset.closed):
        as_json_text(part, fitting, "any JSON value")


def _union_alone(part: Part, fitting: Fitting) -> None:
    """Move what describes a union to its first branch, where it may have no neighbours.

    That is the first beside null, which is no branch where it is only a mark.
    """
    keywords = part.keywords
    if not fitting.subset.any_of_alone or "anyOf" not in keywords:
        return
    branches: list[Part] = keywords["anyOf"]
    first = next((each for each in branches if each.keywords != {"type": "null"}), branches[0])
    described = keywords.pop("description", "")
    if not (described or part.notes) or first.never:
        return
    own = first.keywords.get("description", "")
    texts = {"description": f"{described} {own}".strip()} if described or own else {}
    copy = replace(first, keywords={**first.keywords, **texts}, notes=[*part.notes, *first.notes])
    part.keywords = {**keywords, "anyOf": [copy if each is first else each for each in branches]}
    part.notes = []
    said = "it is said in the first branch of the union"
    fitting.record.tell(part, "description", Action.REWRITTEN, Direction.SAME, said)


RULES: tuple[Rule, ...] = (_rest, _any_value, _union_alone)
