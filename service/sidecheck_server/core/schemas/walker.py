"""Traversal of the subschemas of a schema, with their paths.

Unlike `references.survey_schema`, it follows no references and takes any JSON value, not
only a valid schema.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, DIALECTS, STANDARD_DIALECTS
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.resources import embedded_identifier
from sidecheck_server.core.types import Draft

__all__ = ["SchemaLocation", "contains_keyword", "declared_draft", "is_resource", "walk_schema"]

#: The path from the root of a schema: keys and indexes.
Path: TypeAlias = tuple[str | int, ...]

# Steps of a subschema, of each of its keywords, and of a container in it.
_SUBSCHEMA = 60
_KEYWORD = 4
_CONTAINER = 10


@dataclass(frozen=True, slots=True)
class SchemaLocation:
    """A subschema that is an object, and its path."""

    schema: dict[str, Any]
    path: Path
    #: Whether its path consists of ``properties`` only. True for the root.
    by_properties: bool


def walk_schema(schema: Any, budget: Budget) -> Iterator[SchemaLocation]:
    """Yield *schema* and its subschemas that are objects, in document order.

    The dialect of a resource determines which keywords have subschemas. An unknown dialect
    counts as 2020-12; in an embedded resource, as the dialect of the parent. Values at other
    positions, as in ``const``, are data.

    Raises:
        Exhausted: *budget* is spent.
    """
    if not isinstance(schema, dict):
        return
    stack = [(SchemaLocation(schema, (), by_properties=True), declared_draft(schema))]
    while stack:
        location, draft = stack.pop()
        spend(budget, _SUBSCHEMA + _KEYWORD * len(location.schema))
        yield location
        children = [
            (
                SchemaLocation(
                    value,
                    (*location.path, *path),
                    location.by_properties and path[0] == "properties",
                ),
                declared_draft(value, draft) if is_resource(value, draft) else draft,
            )
            for path, value in subschemas(location.schema, draft)
            if isinstance(value, dict)
        ]
        stack.extend(reversed(children))


def contains_keyword(schema: Any, keyword: str, budget: Budget) -> bool:
    """Return whether any object in *schema*, subschema or data, has *keyword*.

    It is ten times faster than `walk_schema`.

    Raises:
        Exhausted: *budget* is spent.
    """
    stack = [schema]
    while stack:
        value = stack.pop()
        if not isinstance(value, dict | list):
            continue
        spend(budget, _CONTAINER + 2 * len(value))
        if isinstance(value, dict):
            if keyword in value:
                return True
            stack.extend(value.values())
        else:
            stack.extend(value)
    return False


def declared_draft(schema: dict[str, Any], default: Draft = DEFAULT_DIALECT.draft) -> Draft:
    """Return the draft that *schema* declares, or *default*."""
    declared = schema.get("$schema")
    dialect = DIALECTS.get(declared.removesuffix("#")) if isinstance(declared, str) else None
    return default if dialect is None else dialect.draft


def is_resource(schema: Any, draft: Draft) -> bool:
    """Return whether *schema*, a subschema in a resource of *draft*, declares a URI."""
    if not isinstance(schema, dict) or ("$id" not in schema and "id" not in schema):
        return False
    dialect = STANDARD_DIALECTS[declared_draft(schema, draft)]
    return bool(embedded_identifier(schema, dialect, STANDARD_DIALECTS[draft]))
