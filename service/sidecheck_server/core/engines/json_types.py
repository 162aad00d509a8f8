"""The types of JSON values, by the names that ``type`` has for them.

jsonschema's own table is a map of `rpds`, and a look-up there that meets the
interpreter's limit of recursion does not raise RecursionError: it panics, with an
exception that is no Exception. So nothing of `rpds` is touched while judging.
"""

from typing import Any

from sidecheck_server.core.schemas.keywords import Draft

__all__ = ["CLASSES", "has_type", "is_number"]

CLASSES: dict[str, type] = {
    "array": list,
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "string": str,
}
"""The types that are one class each."""


def is_number(value: Any) -> bool:
    """Return whether *value* is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def has_type(value: Any, name: str, draft: Draft) -> bool:
    """Return whether *value* is of the type *name*."""
    known = CLASSES.get(name)
    if known is not None:
        return isinstance(value, known)
    if name == "number":
        return is_number(value)
    if name != "integer" or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return True
    # Since draft 6 a number without a fraction is an integer however it is written
    # (draft-06 validation, section 6.25).
    return isinstance(value, float) and value.is_integer() and draft is not Draft.DRAFT_04
