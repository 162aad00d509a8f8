"""How deep arrays and objects nest, in a text and in a value."""

from gc import get_referents
from itertools import accumulate
from operator import add

from sidecheck_server.core.types import JsonValue

__all__ = ["is_deeper", "nesting"]

_NEITHER_QUOTE_NOR_BRACKET = bytes(c for c in range(256) if c not in b'"[]{}')
_AS_BITS = bytes.maketrans(b"[{]}", b"1100")


def is_deeper(value: JsonValue, most: int) -> bool:
    """Return whether arrays and objects nest deeper in *value* than *most*."""
    # An array must name its items to the garbage collector, and an object its
    # members, or cycles through them would never be freed; texts and numbers name
    # nothing. So every step goes down one level, all of it at once and in C.
    level: list[JsonValue] = [value]
    for _ in range(most):
        level = get_referents(*level)
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def nesting(text: bytes) -> int:
    """Return how deep arrays and objects nest in *text*, which need not be JSON.

    Brackets in strings do not count, nor in a string that does not end. Up to the
    first fault of a text that is not JSON the answer is exact, so it bounds how deep
    any reader gets.
    """
    if b"\\" in text:
        # What is left of a run of backslashes before a quote decides about the quote.
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes with no bracket in between change nothing for any other bracket.
    skeleton = text.translate(None, _NEITHER_QUOTE_NOR_BRACKET).replace(b'""', b"")
    brackets = b"".join(skeleton.split(b'"')[::2])
    # Eight brackets make an octet, of which tables say how far it leads and how deep
    # it gets on the way. The last one is filled up with ends, which deepen nothing.
    octets = (len(brackets) + 7) // 8
    bits = brackets.translate(_AS_BITS).ljust(8 * octets, b"0")
    packed = int(bits or b"0", 2).to_bytes(octets, "big")
    starts = accumulate(map(_STEP.__getitem__, packed), initial=0)
    return max(map(add, starts, map(_PEAK.__getitem__, packed)), default=0)


def _ways(octet: int) -> list[int]:
    steps = (1 if octet >> place & 1 else -1 for place in reversed(range(8)))
    return list(accumulate(steps, initial=0))


_STEP = tuple(_ways(octet)[-1] for octet in range(256))
_PEAK = tuple(max(_ways(octet)) for octet in range(256))
