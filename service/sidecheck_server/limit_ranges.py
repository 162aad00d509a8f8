"""Ranges of the limits in the settings."""

from dataclasses import fields

from sidecheck_server.core.limits import LONGEST_SEARCH, Limits

__all__ = ["check_limits", "limit_range"]

_MOST = 2**31 - 1
"""The largest value of most limits: options of gRPC and limits in the API have 32 bits."""

_MOST_SECONDS = 86_400
"""A day. Timers overflow when they are set to much more than a century."""

_LIMIT_RANGES = {
    # The first worker proves that it works by compiling the schema `true`.
    "schema_bytes": (len("true"), _MOST),
    # RE2's parser has a level for each level of blocks.
    "pattern_repetitions": (1, 100_000),
    "steps": (1, 2**53),
    "inline_steps": (1, LONGEST_SEARCH - 1),
    "compile_seconds": (1, _MOST_SECONDS),
    "validation_seconds": (1, _MOST_SECONDS),
    # A worker maps 53 MiB before its first task. Below, none would start.
    "worker_bytes": (128 << 20, 2**53),
}
"""The least and the largest value of limits that have other bounds than 1 and `_MOST`."""


def limit_range(name: str) -> tuple[int, int]:
    """Return the least and the largest value of the limit *name*."""
    return _LIMIT_RANGES.get(name, (1, _MOST))


def check_limits(limits: Limits) -> Limits:
    """Check that *limits* are in their ranges, and return them.

    Raises:
        ValueError: one is not; the text names it.
    """
    for field in fields(limits):
        value = getattr(limits, field.name)
        least, most = limit_range(field.name)
        if isinstance(value, bool):
            continue
        if value < least:
            raise ValueError(f"{field.name} must be at least {least}")
        if value > most:
            raise ValueError(f"{field.name} must be at most {most}")
    if limits.payload_bytes >= limits.message_bytes:
        raise ValueError("payload_bytes must be below message_bytes")
    return limits
