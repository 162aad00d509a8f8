"""Schemas as graphs of nodes and back, for tests of conversion."""

from collections.abc import Mapping
from typing import Any

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode, collect_reachable
from sidecheck_server.core.convert.schema_reader import read_schema
from sidecheck_server.core.convert.tool_conversion import write_schema
from sidecheck_server.core.convert.transforms.rules import Rule, TransformContext, kind_of
from sidecheck_server.core.convert.types import LossLog
from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.types import Draft
from support.compiling import LIMITS, source_of

__all__ = [
    "ALL",
    "LossSummary",
    "apply_rules",
    "has_whole_doubles",
    "read",
    "reported",
    "without",
    "written",
    "written_keywords",
]

ALL = frozenset(KEYWORDS[Draft.DRAFT_2020_12]) | {"title", "description", "default", "examples"}
"""The keywords of 2020-12, and most of its annotations."""

LossSummary = tuple[str, str, str, str]
"""A loss: its pointer, keyword, action and effect."""


def read(schema: Any, documents: Mapping[str, Any] | None = None) -> tuple[SchemaNode, LossLog]:
    """Return the graph of *schema*, at the path ``("in",)``, and the log of reading it."""
    log = LossLog([LIMITS.steps])
    return read_schema(source_of(schema, documents), ("in",), log, LIMITS), log


def reported(log: LossLog) -> list[LossSummary]:
    """Return the losses in *log* as summaries."""
    return [
        (loss.pointer, loss.keyword, str(loss.action), str(loss.effect))
        for loss in log.sort_losses()
    ]


def written(root: SchemaNode, subset: Subset | None = None) -> Any:
    """Return *root* as a schema."""
    return write_schema(root, Subset() if subset is None else subset)


def apply_rules(
    schema: Any,
    subset: Subset,
    rules: tuple[Rule, ...],
    properties: Mapping[str, str] | None = None,
) -> tuple[Any, list[LossSummary]]:
    """Return *schema* after *rules* for *subset* were applied, and the losses."""
    root, log = read(schema)
    context = TransformContext(root, subset, properties or {}, log)
    for node in collect_reachable(root):
        for rule in rules:
            if rule.concerns(context.traits.union(kind_of(node.keywords)), subset):
                rule.apply(node, context)
    return written(root, subset), reported(log)


def without(*keywords: str, **fields: Any) -> Subset:
    """Return a subset of all keywords but *keywords*."""
    return Subset(keywords=ALL - set(keywords), **fields)


def written_keywords(root: SchemaNode) -> set[str]:
    """Return the keywords at *root* and below."""
    return {keyword for node in collect_reachable(root) for keyword in node.keywords}


def has_whole_doubles(value: Any) -> bool:
    """Return whether *value* has a number like 1.0, which is not an integer in draft 4."""
    if isinstance(value, dict | list):
        return any(map(has_whole_doubles, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()
