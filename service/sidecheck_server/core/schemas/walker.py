"""Where subschemas stand: a schema walked by position, each part with the way to it.

Unlike `references.survey` it follows no reference and needs no schema that was admitted:
it takes any JSON value whatever.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, DIALECTS
from sidecheck_server.core.schemas.keywords import Draft, subschemas

__all__ = ["SchemaLocation", "draft_of", "mentions", "walk_schema"]

#: The way from the root of a schema to a part: keys and indexes.
Path: TypeAlias = tuple[str | int, ...]

# In steps: looking at a subschema, and at each of its members.
_SUBSCHEMA = 60
_MEMBER = 4
_CONTAINER = 10


@dataclass(frozen=True, slots=True)
class SchemaLocation:
    """A subschema that is an object, and where it stands."""

    schema: dict[str, Any]
    path: Path
    #: Whether nothing but ``properties`` leads to it. The root counts: nothing does.
    by_properties: bool


def walk_schema(schema: Any, budget: Budget) -> Iterator[SchemaLocation]:
    """Yield the subschemas of *schema* that are objects, itself first, in their order.

    They stand where the dialect has subschemas that the schema declares at its root; an
    unknown dialect is taken for 2020-12. What stands elsewhere, for example in ``const``,
    is data.

    Raises:
        Exhausted: *budget* is spent.
    """
    if not isinstance(schema, dict):
        return
    draft = draft_of(schema)
    stack = [SchemaLocation(schema, (), by_properties=True)]
    while stack:
        here = stack.pop()
        spend(budget, _SUBSCHEMA + _MEMBER * len(here.schema))
        yield here
        inner = [
            SchemaLocation(
                value, (*here.path, *step), here.by_properties and step[0] == "properties"
            )
            for step, value in subschemas(here.schema, draft)
            if isinstance(value, dict)
        ]
        stack.extend(reversed(inner))


def mentions(schema: Any, keyword: str, budget: Budget) -> bool:
    """Return whether anything in *schema*, a subschema or data, is an object with *keyword*.

    It is a tenth of the work of looking where subschemas stand.

    Raises:
        Exhausted: *budget* is spent.
    """
    stack = [schema]
    while stack:
        here = stack.pop()
        if not isinstance(here, dict | list):
            continue
        spend(budget, _CONTAINER + 2 * len(here))
        if isinstance(here, dict):
            if keyword in here:
                return True
            stack.extend(here.values())
        else:
            stack.extend(here)
    return False


def draft_of(schema: dict[str, Any]) -> Draft:
    """Return the draft that *schema* declares at its root; an unknown dialect counts as 2020-12."""
    declared = schema.get("$schema")
    uri = declared.removesuffix("#") if isinstance(declared, str) else ""
    return DIALECTS.get(uri, DEFAULT_DIALECT).draft
