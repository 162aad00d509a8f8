"""Repairing: all that a caller asked for, in order."""

import json

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.repair.coercion import coerce
from sidecheck_server.core.repair.defaults import apply_defaults
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.repair.unknown import strip_unknown
from sidecheck_server.core.types import Change, JsonValue

__all__ = ["repaired", "text_of"]

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).iterencode

_CHUNK = 20
"""Steps of writing one name, sign or value."""


def repaired(
    engine: CompleteEngine,
    value: JsonValue,
    asked: Repairs,
    budget: Budget,
    *,
    valid: bool,
    hide_values: bool,
    max_depth: int,
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Return *value* after the changes that were *asked* for, and these.

    It is coerced only if it is not *valid*, then stripped, then given its defaults.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    changes: list[Change] = []
    if not valid:
        value, made = coerce(
            engine,
            value,
            asked.coercion,
            budget,
            hide_values=hide_values,
            max_depth=max_depth,
        )
        changes += made
    if asked.unknown is UnknownArguments.STRIP:
        value, made = strip_unknown(engine, value, budget, hide_values=hide_values)
        changes += made
    if asked.apply_defaults:
        value, made = apply_defaults(engine, value, budget)
        changes += made
    return value, tuple(changes)


def text_of(value: JsonValue, limits: Limits, budget: Budget) -> bytes:
    """Return *value*, a repaired payload, as JSON.

    Raises:
        Exhausted: *budget* has too few steps.
        Refusal: LIMIT_EXCEEDED if it would be larger than a payload may be: defaults
            can be large, and stand at many places.
    """
    parts: list[bytes] = []
    size = 0
    for part in _ENCODE(value):
        spend(budget, _CHUNK)
        parts.append(part.encode())
        size += len(parts[-1])
        if size > limits.payload_bytes:
            raise exceeded("payload_bytes", limits.payload_bytes, "the repaired payload")
    return b"".join(parts)
