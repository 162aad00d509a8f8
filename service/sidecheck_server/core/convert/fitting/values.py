"""Values: types, enums, constants, bounds, patterns and formats."""

from typing import Any

from sidecheck_server.core.convert.fitting import bounds, neighbours, types
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.outlines import json_text
from sidecheck_server.core.convert.fitting.patterns import is_taken
from sidecheck_server.core.convert.fitting.phrases import phrase_of
from sidecheck_server.core.convert.fitting.telling import describe, drop
from sidecheck_server.core.convert.fitting.types import SPEAKS_OF, is_of, types_of
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction
from sidecheck_server.core.json_values import json_equal

__all__ = ["RULES"]

_SMALL_TYPES = {"boolean": 2, "null": 1}
"""How many values types have that have few."""
_LONGEST_EXAMPLES = 100
"""Characters of examples that are worth telling."""


def _constant(part: Part, fitting: Fitting) -> None:
    """Say a constant as an enum of one where the subset has no constants."""
    keywords = part.keywords
    if "const" not in keywords:
        return
    value = keywords["const"]
    if fitting.takes("const") and (_is_plain(value) or not fitting.subset.closed):
        return
    both = "enum" in keywords
    listed = not both or any(json_equal(value, each) for each in keywords["enum"])
    if not listed:
        drop(part, fitting.record, "const", "the enum beside it does not have it", Direction.WIDER)
        return
    part.keywords = {
        ("enum" if keyword == "const" else keyword): [value] if keyword == "const" else each
        for keyword, each in keywords.items()
        if keyword != "enum"
    }
    said = "it is said as an enum of one value"
    fitting.record.tell(part, "const", Action.REWRITTEN, Direction.SAME, said)


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _texts(part: Part, fitting: Fitting) -> None:
    """Give values that an enum cannot have, objects and arrays, as their JSON text."""
    keywords = part.keywords
    values = keywords.get("enum", [])
    texts_only = fitting.subset.closed or fitting.subset.enum_of_strings
    if not texts_only or all(map(_is_plain, values)):
        return
    kept = {each: keywords[each] for each in keywords if _says_nothing_of_values(each)}
    lost = [each for each in keywords if each not in kept and each not in ("enum", "type")]
    for keyword in lost:
        drop(part, fitting.record, keyword, "the enum beside it is given", Direction.WIDER)
    part.keywords = {"type": "string", **kept, "enum": [json_text(each) for each in values]}
    part.undo.json_text = True
    part.notes.append("JSON text")
    said = "the values are given as JSON text"
    fitting.record.tell(part, "enum", Action.ENCODED, Direction.SAME, said)


def _says_nothing_of_values(keyword: str) -> bool:
    return keyword in types.ANNOTATIONS and keyword not in SPEAKS_OF


def _enum(part: Part, fitting: Fitting) -> None:
    """Keep to enums of strings where only those are taken."""
    keywords = part.keywords
    if "enum" not in keywords:
        return
    stated = types_of(part)
    if stated and fitting.subset.enum_of_strings:
        # What is of no type that the part admits is never admitted.
        possible = [
            value for value in keywords["enum"] if any(is_of(value, each) for each in stated)
        ]
        if possible and len(possible) < len(keywords["enum"]):
            keywords["enum"] = possible
            said = "values that the type refuses are left out"
            fitting.record.tell(part, "enum", Action.REWRITTEN, Direction.SAME, said)
    if not fitting.takes("enum"):
        describe(part, fitting.record, "enum")
    elif fitting.subset.enum_of_strings:
        _enum_of_strings(part, fitting, stated)


def _enum_of_strings(part: Part, fitting: Fitting, stated: list[str]) -> None:
    values = part.keywords["enum"]
    strings = [value for value in values if isinstance(value, str) and value]
    only_null_beside = len(strings) + sum(value is None for value in values) == len(values)
    if strings and only_null_beside and (len(strings) == len(values) or fitting.subset.nullable):
        return
    if len(stated) == 1 and len(values) >= _SMALL_TYPES.get(stated[0], len(values) + 1):
        drop(part, fitting.record, "enum", "it lists every value of the type")
        return
    describe(part, fitting.record, "enum")


def _of_other_types(part: Part, fitting: Fitting) -> None:
    """Drop keywords about other types than the one that is stated, where they may not stand."""
    stated = {"number" if each == "integer" else each for each in types_of(part)}
    if not fitting.subset.keywords_by_type or len(stated) != 1:
        return
    for keyword in [each for each in part.keywords if SPEAKS_OF.get(each, *stated) not in stated]:
        drop(part, fitting.record, keyword, "it says nothing of values of the type")


def _format(part: Part, fitting: Fitting) -> None:
    """Describe formats that the subset does not have; they only annotate."""
    value, formats = part.keywords.get("format"), fitting.subset.formats
    if value is None or (fitting.takes("format") and (formats is None or value in formats)):
        return
    describe(part, fitting.record, "format", direction=Direction.SAME)


def _pattern(part: Part, fitting: Fitting) -> None:
    """Describe patterns that the API could not read."""
    value = part.keywords.get("pattern")
    if value is None:
        return
    taken = fitting.takes("pattern")
    if not (taken and is_taken(value, fitting.subset.patterns, fitting.record.budget)):
        describe(part, fitting.record, "pattern")


def _default(part: Part, fitting: Fitting) -> None:
    """Describe defaults and short examples where they are not taken."""
    keywords = part.keywords
    if "default" in keywords and not fitting.takes("default"):
        describe(part, fitting.record, "default", direction=Direction.SAME)
    if "examples" in keywords and not fitting.takes("examples"):
        values = keywords["examples"]
        said = phrase_of("examples", keywords)
        if values and len(said) <= _LONGEST_EXAMPLES:
            describe(part, fitting.record, "examples", said, direction=Direction.SAME)
        else:
            drop(part, fitting.record, "examples", "the API does not take examples")


RULES: tuple[Rule, ...] = (
    *neighbours.RULES,
    _constant,
    _texts,
    *types.RULES,
    _of_other_types,
    _enum,
    _format,
    *bounds.RULES,
    _pattern,
    _default,
)
