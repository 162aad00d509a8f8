"""Schemas that are fitted to a subset, as the tests of fitting write them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.convert.apis.api import Patterns, References, Subset
from sidecheck_server.core.convert.fitting import fit
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.reading import read_parts
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Loss
from sidecheck_server.core.convert.writing import write_schema
from support.compiling import LIMITS, source_of

__all__ = ["ALL_REQUIRED", "CLOSED", "SMALL", "Fitted", "fitted", "fitted_member", "taking"]

_COMMON = frozenset(
    {"additionalProperties", "anyOf", "description", "enum", "items", "properties", "required"}
    | {"type"}
)
_STRICT = Subset(
    keywords=_COMMON | {"const", "format", "minItems", "maxItems", "minimum", "pattern"},
    references=References.ALONE,
    boolean_schemas=False,
    typed=True,
    items=True,
    formats=frozenset({"date", "email"}),
    patterns=Patterns.REGULAR,
    closed=True,
)
CLOSED = replace(_STRICT, min_items=frozenset({0, 1}))
"""Every object is closed; members may be optional."""
ALL_REQUIRED = replace(_STRICT, all_required=True)
"""Every object is closed, and every member required."""
SMALL = Subset(
    keywords=_COMMON - {"additionalProperties"} | {"minItems", "maxItems", "minimum"},
    references=References.ALONE,
    boolean_schemas=False,
    type_lists=False,
    typed=True,
    items=True,
    empty_objects=False,
    enum_of_strings=True,
)
"""No maps, no objects without members, one type at a time, enums of strings."""


def taking(*keywords: str, **facts: Any) -> Subset:
    """Return the subset that has these keywords and ``type``, with *facts* about it."""
    return Subset(keywords=frozenset({*keywords, "type", "properties", "description"}), **facts)


@dataclass(frozen=True)
class Fitted:
    """What came of a schema."""

    root: Part
    schema: dict[str, Any]
    losses: tuple[Loss, ...]

    @property
    def told(self) -> list[tuple[str, str, str]]:
        """Keyword, action and direction of each loss, in order of their places."""
        return [(each.keyword, each.action.value, each.direction.value) for each in self.losses]


def fitted(schema: Any, subset: Subset, members: Mapping[str, str] | None = None) -> Fitted:
    """Return *schema*, a root, fitted to *subset*, with *members* renamed."""
    record = Record([LIMITS.steps])
    root = read_parts(source_of(schema), (), record, LIMITS)
    root = fit(root, subset, members or {}, record)
    return Fitted(root, write_schema(root, subset), record.in_order())


def fitted_member(schema: Any, subset: Subset) -> tuple[Any, list[tuple[str, str, str]]]:
    """Return *schema*, that of a required member of a closed object, fitted, and what is told."""
    around = {
        "type": "object",
        "properties": {"it": schema},
        "required": ["it"],
        "additionalProperties": False,
    }
    takes_closed = replace(
        subset, keywords=subset.keywords and subset.keywords | {"additionalProperties", "required"}
    )
    found = fitted(around, takes_closed)
    return found.schema["properties"]["it"], found.told
