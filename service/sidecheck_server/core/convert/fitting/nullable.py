"""Nullable: a union with null as one schema, where null is only a mark on it."""

from typing import Any

from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.types import SPEAKS_OF, types_of
from sidecheck_server.core.convert.part import Part

__all__ = ["RULES"]

_OF_ALL_TYPES = frozenset({"title", "description", "default", "examples", "deprecated"})
_SAID_ONCE = ("title", "description")
"""What both the union and its branch may say: it is joined, or not sent anyway."""


def _nullable(part: Part, fitting: Fitting) -> None:
    """Say a union of null and one other schema as that schema, with null among its types.

    That is how most optional members are declared; the model reads it without a union.
    """
    branches = part.keywords.get("anyOf", [])
    others = [each for each in branches if each.keywords != {"type": "null"} or each.never]
    if not fitting.subset.nullable or len(others) != 1 or len(branches) == 1:
        return
    only, beside = others[0], part.keywords.keys() - {"anyOf"}
    if not beside <= _OF_ALL_TYPES or not _may_be_null(only):
        return
    if beside & only.keywords.keys() - set(_SAID_ONCE):
        return
    texts = [each.keywords.get("description", "") for each in (part, only)]
    description = " ".join(text for text in texts if text)
    around = {name: value for name, value in part.keywords.items() if name != "anyOf"}
    part.keywords = {**_with_null(only.keywords), **around}
    if description:
        part.keywords["description"] = description
    part.notes = list(dict.fromkeys([*part.notes, *only.notes]))


def _may_be_null(part: Part) -> bool:
    """Return whether a type more is all that *part* needs to admit null too."""
    speaks_of_types = all(each in SPEAKS_OF or each in _SIMPLE for each in part.keywords)
    both = "enum" in part.keywords and "const" in part.keywords
    return not part.never and bool(types_of(part)) and speaks_of_types and not both


_SIMPLE = _OF_ALL_TYPES | {"type", "enum", "const", "readOnly", "writeOnly"}


def _with_null(keywords: dict[str, Any]) -> dict[str, Any]:
    widened = dict(keywords)
    types = keywords["type"] if isinstance(keywords["type"], list) else [keywords["type"]]
    widened["type"] = list(dict.fromkeys([*types, "null"]))
    if "const" in widened:
        widened["enum"] = [widened.pop("const")]
    if "enum" in widened and None not in widened["enum"]:
        widened["enum"] = [*widened["enum"], None]
    return widened


RULES: tuple[Rule, ...] = (_nullable,)
