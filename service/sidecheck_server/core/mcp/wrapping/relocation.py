"""Moving a schema to another place of its document, with the references in it.

Only what is a reference is written anew, and only its beginning: escapes stay as they are.
What stands in ``const``, ``examples`` or an unknown keyword is data, unless a reference
leads there. What has a URI of its own is left alone: references in it start at itself
(2020-12 core, section 8.2.1).
"""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.schemas.dialects import STANDARD
from sidecheck_server.core.schemas.keywords import KEYWORDS, Draft, subschemas
from sidecheck_server.core.schemas.resources import identifier_of

__all__ = [
    "Own",
    "is_resource",
    "led_to",
    "own_schemas",
    "pointer_of",
    "references_in",
    "rewritten",
]

#: The subschemas of a resource, by identity.
Own = dict[int, dict[str, Any]]

# In steps.
_SUBSCHEMA = 60
_MEMBER = 4
_VALUE = 4

_POINTING = ("$ref", "$dynamicRef")


def is_resource(schema: Any, draft: Draft) -> bool:
    """Return whether *schema* has a URI of its own."""
    return bool(identifier_of(schema, STANDARD[draft]))


def own_schemas(root: dict[str, Any], draft: Draft, budget: Budget) -> Own:
    """Return *root* and the subschemas that are of the same resource.

    They stand where the draft has subschemas, or references of the resource lead there.

    Raises:
        Exhausted: *budget* is spent.
    """
    own: Own = {}
    pending: list[Any] = [root]
    while pending:
        schema = pending.pop()
        if not isinstance(schema, dict) or id(schema) in own:
            continue
        if schema is not root and is_resource(schema, draft):
            continue
        spend(budget, _SUBSCHEMA + _MEMBER * len(schema))
        own[id(schema)] = schema
        pending.extend(inner for _, inner in subschemas(schema, draft))
        for _, reference in references_in(schema, draft):
            pending.append(led_to(reference, root, draft, budget))
    return own


def references_in(schema: dict[str, Any], draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield the references of *schema* itself that may hold a pointer, by keyword."""
    for keyword in _POINTING:
        reference = schema.get(keyword)
        if isinstance(reference, str) and keyword in KEYWORDS[draft]:
            yield keyword, reference


def pointer_of(reference: str) -> str | None:
    """Return the JSON Pointer that *reference* is, without escapes of URIs.

    None if it is another: a name, or the URI of another resource.
    """
    if reference and not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    return pointer if not pointer or pointer.startswith("/") else None


def led_to(reference: str, root: dict[str, Any], draft: Draft, budget: Budget) -> Any:
    """Return what *reference*, a pointer, leads to in *root*, or None.

    None too if the way there leads through another resource.

    Raises:
        Exhausted: *budget* is spent.
    """
    pointer = pointer_of(reference)
    if pointer is None:
        return None
    spend(budget, _SUBSCHEMA + len(pointer))
    here: Any = root
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list) and step.isdecimal() and step.isascii() and len(step) < 9:
            here = here[int(step)] if int(step) < len(here) else None
        else:
            return None
        if is_resource(here, draft):
            return None
    return here


def rewritten(
    value: Any, own: Own, draft: Draft, write: Callable[[str], str], budget: Budget
) -> Any:
    """Return *value* with what *write* makes of each reference of the schemas in *own*.

    The nesting of *value* must be bounded.

    Raises:
        Exhausted: *budget* is spent.
    """
    spend(budget, _VALUE)
    if isinstance(value, list):
        return [rewritten(item, own, draft, write, budget) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {name: rewritten(item, own, draft, write, budget) for name, item in value.items()}
    if id(value) in own:
        for keyword, reference in references_in(value, draft):
            copy[keyword] = write(reference)
    return copy
