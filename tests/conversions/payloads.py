"""Random values that a schema admits."""

from random import Random
from typing import Any

import jsonschema_rs
from agreement.corpus import follow_within
from agreement.payloads import PayloadMaker

__all__ = ["valid_values"]

_NAMES = ("a", "b", "id", "name", "x-1", "$ref", "__proto__", "")
_TRIES = 12
"""Attempts for each requested value."""


def valid_values(
    schema: Any, validator: jsonschema_rs.Validator, random: Random, count: int
) -> list[Any]:
    """Return up to *count* values that *schema* admits, according to *validator*."""
    maker = PayloadMaker(random, follow_within(schema), names=_NAMES)
    values: list[Any] = []
    for _ in range(count * _TRIES):
        if len(values) == count:
            break
        value = maker.make(schema)
        if isinstance(value, dict) and validator.is_valid(value):
            values.append(value)
    return values
