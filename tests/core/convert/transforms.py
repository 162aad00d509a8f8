"""Transformed schemas, in the notation of the tests of transforms."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.convert.providers.subset import Patterns, References, Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.schema_reader import read_schema
from sidecheck_server.core.convert.tool_conversion import write_schema
from sidecheck_server.core.convert.transforms.pipeline import transform_schema
from sidecheck_server.core.convert.types import Loss, LossLog
from support.compiling import LIMITS, source_of

__all__ = [
    "ALL_REQUIRED",
    "CLOSED",
    "SMALL",
    "Transformed",
    "supporting",
    "transformed",
    "transformed_property",
]

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
"""Every object is closed; properties may be optional."""
ALL_REQUIRED = replace(_STRICT, all_required=True)
"""Every object is closed, and every property required."""
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
"""No maps, no objects without properties, one type at a time, enums of strings."""


def supporting(*keywords: str, **facts: Any) -> Subset:
    """Return a subset with these keywords and ``type``, with *facts* about it."""
    return Subset(keywords=frozenset({*keywords, "type", "properties", "description"}), **facts)


@dataclass(frozen=True)
class Transformed:
    """Transformed schema."""

    root: SchemaNode
    schema: dict[str, Any]
    losses: tuple[Loss, ...]

    @property
    def reported(self) -> list[tuple[str, str, str]]:
        """Keyword, action and effect of each loss, ordered by location."""
        return [(loss.keyword, loss.action.value, loss.effect.value) for loss in self.losses]


def transformed(
    schema: Any, subset: Subset, properties: Mapping[str, str] | None = None
) -> Transformed:
    """Return *schema*, a root, transformed to *subset*, with *properties* renamed."""
    log = LossLog([LIMITS.steps])
    root = read_schema(source_of(schema), (), log, LIMITS)
    root = transform_schema(root, subset, properties or {}, log)
    return Transformed(root, write_schema(root, subset), log.sort_losses())


def transformed_property(schema: Any, subset: Subset) -> tuple[Any, list[tuple[str, str, str]]]:
    """Return the transformed *schema* of a required property of a closed object, and its losses."""
    outer = {
        "type": "object",
        "properties": {"it": schema},
        "required": ["it"],
        "additionalProperties": False,
    }
    closed_subset = replace(
        subset, keywords=subset.keywords and subset.keywords | {"additionalProperties", "required"}
    )
    result = transformed(outer, closed_subset)
    return result.schema["properties"]["it"], result.reported
