"""Application of all requested repairs, in order."""

from collections.abc import Iterator

from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.limits import Budget, Limits, limit_exceeded_error, spend
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.repair.coercion import coerce
from sidecheck_server.core.repair.defaults import apply_defaults
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.repair.unknown import strip_unknown_properties
from sidecheck_server.core.types import Change, JsonValue

__all__ = ["apply_repairs", "encode_repaired"]

_CHUNK = 20
"""Steps of writing one name, sign or value."""


def apply_repairs(
    engine: CompleteEngine,
    value: JsonValue,
    repairs: Repairs,
    budget: Budget,
    *,
    valid: bool,
    hide_values: bool,
    max_depth: int,
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Return *value* after the *repairs*, and the changes.

    The order is: coercion, unless *value* is *valid*; removal of unknown properties;
    defaults.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    changes: list[Change] = []
    if not valid:
        value, coerced = coerce(
            engine,
            value,
            repairs.coercion,
            budget,
            hide_values=hide_values,
            max_depth=max_depth,
        )
        changes += coerced
    if repairs.unknown is UnknownArguments.STRIP:
        value, removed = strip_unknown_properties(engine, value, budget, hide_values=hide_values)
        changes += removed
    if repairs.apply_defaults:
        value, added = apply_defaults(engine, value, budget)
        changes += added
    return value, tuple(changes)


def encode_repaired(value: JsonValue, limits: Limits, budget: Budget) -> bytes:
    """Return the JSON text of *value*, a repaired payload.

    Raises:
        Exhausted: *budget* has too few steps.
        RequestError: LIMIT_EXCEEDED if it is larger than a payload may be: defaults can
            be large, and apply at many places.
    """
    chunks: list[bytes] = []
    size = 0
    for chunk in _pieces(value):
        spend(budget, _CHUNK)
        chunks.append(chunk)
        size += len(chunk)
        if size > limits.payload_bytes:
            raise limit_exceeded_error(
                "payload_bytes", limits.payload_bytes, "the repaired payload"
            )
    return b"".join(chunks)


def _pieces(value: JsonValue) -> Iterator[bytes]:
    """Yield the JSON text of *value* in pieces: signs, names and scalars."""
    if isinstance(value, dict) and value:
        separator = b"{"
        for name, part in value.items():
            yield separator + encode_json(name) + b":"
            yield from _pieces(part)
            separator = b","
        yield b"}"
    elif isinstance(value, list) and value:
        separator = b"["
        for part in value:
            yield separator
            yield from _pieces(part)
            separator = b","
        yield b"]"
    else:
        yield encode_json(value)
