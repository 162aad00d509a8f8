"""Spelling: texts that tell values apart."""

from sidecheck_server.core.equality import number_text
from sidecheck_server.core.types import JsonValue

__all__ = ["spelled"]


def spelled(value: JsonValue) -> str:
    """Return a text that two values share exactly if they are the same JSON value.

    The nesting of *value* must be bounded.
    """
    if isinstance(value, dict):
        members = sorted((f"{name!r}:{spelled(member)}" for name, member in value.items()))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(spelled, value)) + "]"
    if value is None or isinstance(value, bool | str):
        return repr(value)
    return number_text(value)
