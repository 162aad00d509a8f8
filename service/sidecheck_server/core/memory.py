"""Measurement of the memory that values take, for caches that are bounded by bytes."""

import gc
from enum import Enum
from sys import getsizeof
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

__all__ = ["measure_memory"]

_ATOMS = frozenset({str, bytes, int, float, bool, type(None)})
"""Types of values that refer to no others."""

_COLLECTIONS = frozenset({dict, list, tuple, set, frozenset})

#: What many values share, or what belongs to the program.
_SHARED = (type, FunctionType, BuiltinFunctionType, ModuleType, TracebackType, Enum)

_ALIGNMENT = 16
"""Bytes of which an allocation takes a multiple."""


def measure_memory(*values: object) -> int:
    """Return how many bytes *values* take, with everything that they refer to.

    What several of them refer to counts once. Functions, classes and members of
    enumerations do not count. The values must be data: whatever else they refer to
    counts as well.
    """
    total = 0
    seen: set[int] = set()
    level: list[Any] = list(values)
    while level:
        referring = []
        for value in level:
            key = id(value)
            if key in seen:
                continue
            seen.add(key)
            kind = type(value)
            if kind not in _ATOMS:
                if kind not in _COLLECTIONS and isinstance(value, _SHARED):
                    continue
                referring.append(value)
            total += (getsizeof(value) + _ALIGNMENT - 1) & -_ALIGNMENT
        level = gc.get_referents(*referring)
        for value in referring:
            # The collector does not look into code, and not at keys that are texts.
            kind = type(value)
            if kind is dict:
                level += value
            elif kind is CodeType:
                level += (value.co_consts, value.co_names)
                level += (value.co_linetable, value.co_exceptiontable, value.co_qualname)
    return total
