r"""Unicode properties: what `\p{..}` and `\P{..}` name.

The names are those of ECMA-262 section 22.2.2.9 (UnicodeMatchProperty), to the
letter: unlike Unicode itself, ECMA-262 does not match names loosely.

The data is our own copy, of one version of Unicode. So a property means the same
set in every engine, alone, inside a class and negated, on every release of Python.
"""

import base64
import zlib
from functools import cache
from itertools import accumulate

from sidecheck_server.core.patterns.codepoints import Ranges
from sidecheck_server.core.patterns.property_data import PACKED
from sidecheck_server.core.patterns.property_names import (
    BINARY_PROPERTIES,
    GENERAL_CATEGORIES,
    SCRIPTS,
)

__all__ = ["find_property"]


def find_property(name: str, value: str | None) -> Ranges:
    r"""Return the code points of `\p{name}` or `\p{name=value}`.

    Raises LookupError where ECMA-262 has no such property or value.
    """
    match name, value:
        case _, None if name in GENERAL_CATEGORIES:
            return list_members(f"gc={GENERAL_CATEGORIES[name]}")
        case _, None:
            return list_members(BINARY_PROPERTIES[name])
        case (("General_Category" | "gc"), str()):
            return list_members(f"gc={GENERAL_CATEGORIES[value]}")
        case (("Script" | "sc"), str()):
            return list_members(f"sc={SCRIPTS[value]}")
        case (("Script_Extensions" | "scx"), str()):
            script = SCRIPTS[value]
            extended = f"scx={script}"
            return list_members(extended if extended in read_data() else f"sc={script}")
    raise LookupError(name)


# One entry for each of the few hundred properties, so that no pattern can push one out.
@cache
def list_members(name: str) -> Ranges:
    """Return the ranges of a property that the data has under *name*."""
    numbers = map(ord, read_data()[name])
    ends = list(accumulate(numbers))
    return tuple(zip(ends[::2], ends[1::2], strict=True))


@cache
def read_data() -> dict[str, str]:
    """Return what the data has of each property."""
    packed = zlib.decompress(base64.b64decode(PACKED)).decode("utf-8", "surrogatepass")
    index, _, numbers = packed.partition("\n")
    data, start = {}, 0
    for entry in index.split():
        name, _, length = entry.rpartition(":")
        data[name] = numbers[start : start + int(length)]
        start += int(length)
    return data
