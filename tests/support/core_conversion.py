"""Schemas as parts and back, for tests of conversion."""

from collections.abc import Mapping
from typing import Any

from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.part import Part, reachable
from sidecheck_server.core.convert.reading import read_parts
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.writing import write_schema
from sidecheck_server.core.schemas.keywords import KEYWORDS, Draft
from support.compiling import LIMITS, source_of

__all__ = [
    "ALL",
    "Told",
    "has_whole_doubles",
    "keywords_written",
    "lacking",
    "read",
    "ruled",
    "told",
    "written",
]

ALL = frozenset(KEYWORDS[Draft.DRAFT_2020_12]) | {"title", "description", "default", "examples"}
"""The keywords of 2020-12, and most of its annotations."""

Told = tuple[str, str, str, str]
"""A loss: its pointer, keyword, action and direction."""


def read(schema: Any, documents: Mapping[str, Any] | None = None) -> tuple[Part, Record]:
    """Return *schema* as parts, which stand at ``("in",)``, and the record of reading it."""
    record = Record([LIMITS.steps])
    return read_parts(source_of(schema, documents), ("in",), record, LIMITS), record


def told(record: Record) -> list[Told]:
    """Return what *record* tells, in short."""
    return [
        (loss.pointer, loss.keyword, str(loss.action), str(loss.direction))
        for loss in record.in_order()
    ]


def written(root: Part, subset: Subset | None = None) -> Any:
    """Return *root* as a schema."""
    return write_schema(root, Subset() if subset is None else subset)


def ruled(
    schema: Any,
    subset: Subset,
    rules: tuple[Rule, ...],
    members: Mapping[str, str] | None = None,
) -> tuple[Any, list[Told]]:
    """Return what *rules* make of *schema* in *subset*, and what is told of it."""
    root, record = read(schema)
    fitting = Fitting(root, subset, members or {}, record)
    for part in reachable(root):
        for rule in rules:
            rule(part, fitting)
    return written(root, subset), told(record)


def lacking(*keywords: str, **more: Any) -> Subset:
    """Return a subset that has all but *keywords*."""
    return Subset(keywords=ALL - set(keywords), **more)


def keywords_written(root: Part) -> set[str]:
    """Return the keywords that stand anywhere at *root* or below."""
    return {keyword for part in reachable(root) for keyword in part.keywords}


def has_whole_doubles(value: Any) -> bool:
    """Return whether *value* has a number like 1.0, which draft 4 takes for no integer."""
    if isinstance(value, dict | list):
        return any(map(has_whole_doubles, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()
