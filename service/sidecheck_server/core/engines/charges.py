"""Charges: how many steps it takes the complete engine to apply a subschema to a value."""

from typing import Any

from sidecheck_server.core.engines.weights import constant_weight
from sidecheck_server.core.types import JsonValue

__all__ = ["APPLYING", "charge_for"]

APPLYING = 100
"""Steps of going down into any subschema, with the fault that it may find."""

_KEYWORD = 10
_PART = 4


def charge_for(schema: Any) -> int:
    """Return the steps of applying *schema* itself, without the subschemas in it."""
    if isinstance(schema, bool):
        return APPLYING
    return APPLYING + sum(_of_keyword(name, value) for name, value in schema.items())


def _of_keyword(name: str, value: JsonValue) -> int:
    if name == "enum" and isinstance(value, list):
        return _KEYWORD + sum(map(constant_weight, value))
    if name == "const":
        return _KEYWORD + constant_weight(value)
    # Names that are required, members that are looked for, branches that are tried.
    return _KEYWORD + (_PART * len(value) if isinstance(value, list | dict) else 0)
