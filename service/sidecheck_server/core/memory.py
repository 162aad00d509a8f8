"""Memory use of Python values, for caches with a limit in bytes."""

import gc
from enum import Enum
from sys import getsizeof
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

__all__ = ["measure_memory"]

_ATOMS = frozenset({str, bytes, int, float, bool, type(None)})
"""Types whose values hold no references."""

_COLLECTIONS = frozenset({dict, list, tuple, set, frozenset})

#: Types of objects that the program or many values share, and that are not counted.
_SHARED = (type, FunctionType, BuiltinFunctionType, ModuleType, TracebackType, Enum)

_ALIGNMENT = 16
"""Allocation sizes are multiples of this number of bytes."""


def measure_memory(*values: object) -> int:
    """Return the size of *values* in bytes, including all objects that they reference.

    Shared objects count once. Functions, classes and members of enumerations do not
    count. The values must be plain data: every other object that they reference counts.
    """
    total = 0
    seen: set[int] = set()
    level: list[Any] = list(values)
    while level:
        containers = []
        for value in level:
            key = id(value)
            if key in seen:
                continue
            seen.add(key)
            kind = type(value)
            if kind not in _ATOMS:
                if kind not in _COLLECTIONS and isinstance(value, _SHARED):
                    continue
                containers.append(value)
            total += (getsizeof(value) + _ALIGNMENT - 1) & -_ALIGNMENT
        level = gc.get_referents(*containers)
        for value in containers:
            # The garbage collector visits neither code objects nor string keys.
            kind = type(value)
            if kind is dict:
                level += value
            elif kind is CodeType:
                level += (value.co_consts, value.co_names)
                level += (value.co_linetable, value.co_exceptiontable, value.co_qualname)
    return total
