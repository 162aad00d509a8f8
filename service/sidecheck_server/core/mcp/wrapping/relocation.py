"""Moves a schema to another place of its document and rewrites the references in it.

Only references are rewritten, and of them only the start: escapes stay as they are. The
contents of ``const``, ``examples`` and unknown keywords are data, unless a reference leads
there. A subschema with a URI of its own is unchanged: references in it are relative to
itself (2020-12 core, section 8.2.1).
"""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.schemas.keywords import KEYWORDS, subschemas
from sidecheck_server.core.schemas.walker import is_resource
from sidecheck_server.core.types import Draft, pointer_steps

__all__ = [
    "ResourceSchemas",
    "pointer_of",
    "references_in",
    "resolve_pointer",
    "resource_schemas",
    "rewrite_references",
]

#: Subschemas of a resource, by identity.
ResourceSchemas = dict[int, dict[str, Any]]

# Steps.
_SUBSCHEMA = 60
_PROPERTY = 4
_VALUE = 4

_POINTER_KEYWORDS = ("$ref", "$dynamicRef")


def resource_schemas(root: dict[str, Any], draft: Draft, budget: Budget) -> ResourceSchemas:
    """Return *root* and the subschemas of the same resource.

    They are where the draft has subschemas and where references of the resource lead.

    Raises:
        Exhausted: *budget* is spent.
    """
    schemas: ResourceSchemas = {}
    pending: list[Any] = [root]
    while pending:
        schema = pending.pop()
        if not isinstance(schema, dict) or id(schema) in schemas:
            continue
        if schema is not root and is_resource(schema, draft):
            continue
        spend(budget, _SUBSCHEMA + _PROPERTY * len(schema))
        schemas[id(schema)] = schema
        pending.extend(inner for _, inner in subschemas(schema, draft))
        for _, reference in references_in(schema, draft):
            pending.append(resolve_pointer(reference, root, draft, budget))
    return schemas


def references_in(schema: dict[str, Any], draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield the keywords of *schema* itself that may hold a pointer, with their references."""
    for keyword in _POINTER_KEYWORDS:
        reference = schema.get(keyword)
        if isinstance(reference, str) and keyword in KEYWORDS[draft]:
            yield keyword, reference


def pointer_of(reference: str) -> str | None:
    """Return the JSON Pointer of *reference*, percent-decoded.

    None if it is another reference: an anchor, or the URI of another resource.
    """
    if reference and not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    return pointer if not pointer or pointer.startswith("/") else None


def resolve_pointer(reference: str, root: dict[str, Any], draft: Draft, budget: Budget) -> Any:
    """Return the target of the pointer *reference* in *root*, or None.

    None too if the path leads through another resource.

    Raises:
        Exhausted: *budget* is spent.
    """
    pointer = pointer_of(reference)
    if pointer is None:
        return None
    spend(budget, _SUBSCHEMA + len(pointer))
    here: Any = root
    for step in pointer_steps(pointer):
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list) and step.isdecimal() and step.isascii() and len(step) < 9:
            here = here[int(step)] if int(step) < len(here) else None
        else:
            return None
        if is_resource(here, draft):
            return None
    return here


def rewrite_references(
    value: Any,
    schemas: ResourceSchemas,
    draft: Draft,
    rewrite: Callable[[str], str],
    budget: Budget,
) -> Any:
    """Return *value* with *rewrite* applied to each reference of the schemas in *schemas*.

    The caller bounds the nesting of *value*.

    Raises:
        Exhausted: *budget* is spent.
    """
    spend(budget, _VALUE)
    if isinstance(value, list):
        return [rewrite_references(item, schemas, draft, rewrite, budget) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {
        name: rewrite_references(item, schemas, draft, rewrite, budget)
        for name, item in value.items()
    }
    if id(value) in schemas:
        for keyword, reference in references_in(value, draft):
            copy[keyword] = rewrite(reference)
    return copy
