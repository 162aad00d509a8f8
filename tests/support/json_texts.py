"""Random JSON texts in every spelling, and a strict reader with the standard library."""

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from random import Random
from typing import Any

from sidecheck_server.core.exact_numbers import MOST_DIGITS

__all__ = ["MUTATIONS", "NotStrictError", "Read", "mutated", "random_text", "read_strictly"]

# Few keys, so that objects repeat them; some have colons or need escapes.
_KEYS = ["a", "b", ":", '":"', "", "a:b", "\\", "é", "😀", "\n", "c", "d", "e"]
_PIECES = [*':"\\/{}[],abé\u2028😀\x00\n\x7f', "\\u003a", "\\n", "\\\\"]
_NUMBERS = [0, -0.0, 1, 1.0, -1.5e300, 5e-324, 2**53 + 1, 2**64, -(10**30), 0.1, 1e22, True]


@dataclass(frozen=True)
class _Members:
    """The properties of an object in the order of the text, with repeated keys."""

    pairs: tuple[tuple[str, Any], ...]


def random_text(random: Random, *, repeated_keys: bool) -> bytes:
    """Return the text of a random JSON value, with or without repeated keys."""
    return _write(random, _node(random, 4, repeated_keys=repeated_keys)).encode()


def _node(random: Random, depth: int, *, repeated_keys: bool) -> Any:
    kind = random.choice(["scalar", "text", "array", "object", "object"] if depth else ["text"])
    if kind == "scalar":
        return random.choice([None, False, random.getrandbits(80), random.random(), *_NUMBERS])
    if kind == "text":
        return "".join(random.choices(_PIECES, k=random.randrange(6)))
    within = [
        _node(random, depth - 1, repeated_keys=repeated_keys) for _ in range(random.randrange(5))
    ]
    if kind == "array":
        return within
    choose = random.choices if repeated_keys else random.sample
    return _Members(tuple(zip(choose(_KEYS, k=len(within)), within, strict=True)))


def _write(random: Random, node: Any) -> str:
    space = random.choice(["", "", " ", "\n\t"])
    if isinstance(node, _Members):
        members = (f"{_write(random, name)}:{_write(random, value)}" for name, value in node.pairs)
        return f"{{{space}{','.join(members)}{space}}}"
    if isinstance(node, list):
        return f"[{','.join(_write(random, item) for item in node)}{space}]"
    options = random.choice(["raw", "escaped", "each escaped"])
    if isinstance(node, str) and options == "each escaped":
        units = node.encode("utf-16-be").hex()
        hexadecimal = random.choice([str.lower, str.upper])(units)
        starts = range(0, len(hexadecimal), 4)
        return f'"{"".join(_ESCAPE + hexadecimal[start : start + 4] for start in starts)}"'
    return json.dumps(node, ensure_ascii=options == "escaped")


_ESCAPE = "\\u"

#: Fragments that a mutation may insert into a text.
MUTATIONS = [
    *(c.encode() for c in '"\\[]{},:-+.eE0159 \n\tntfu/\x00\x0b'),
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\\ud800",
    b"\\udc00",
    b"1e999",
    b"NaN",
    b"Infinity",
    b"null",
    b"9" * 4301,
    b"[" * 40,
]


def mutated(random: Random) -> bytes:
    """Return a JSON text with a few changes."""
    text = random_text(random, repeated_keys=random.random() < 0.2)
    for _ in range(random.randint(1, 3)):
        position = random.randint(0, len(text))
        removed = random.randint(0, 2)
        text = text[:position] + random.choice([b"", *MUTATIONS]) + text[position + removed :]
    return text


class NotStrictError(ValueError):
    """The strict reader rejects a text."""


@dataclass
class Read:
    """The value that the standard library parses."""

    value: Any
    #: The repeated keys: the pointer of their object, and their name.
    repeated: set[tuple[tuple[str | int, ...], str]]


def read_strictly(text: bytes) -> Read:
    """Read *text* by RFC 8259 and RFC 7493 with the standard library's reader."""
    try:
        decoded = text.decode("utf-8")
        if decoded.startswith("\ufeff"):
            raise NotStrictError
        node = json.loads(
            decoded, object_pairs_hook=_pairs, parse_constant=_reject, parse_float=_bounded
        )
        repeated: set[tuple[tuple[str | int, ...], str]] = set()
        value = _resolve(node, (), repeated)
        _refuse_lone_surrogates(node)
    except (ValueError, RecursionError):
        raise NotStrictError from None
    return Read(value, repeated)


def _refuse_lone_surrogates(node: Any) -> None:
    if isinstance(node, str):
        node.encode()
    elif isinstance(node, list | tuple):
        for part in node:
            _refuse_lone_surrogates(part)
    elif isinstance(node, _Members):
        _refuse_lone_surrogates(node.pairs)


def _pairs(pairs: list[tuple[str, Any]]) -> _Members:
    return _Members(tuple(pairs))


def _reject(_constant: str) -> Any:
    raise NotStrictError


def _bounded(digits: str) -> Decimal:
    if not digits.lower().partition("e")[0].strip("-0."):
        return Decimal("-0" if digits.startswith("-") else 0)
    try:
        number = Decimal(digits)
    except InvalidOperation:
        raise NotStrictError from None
    # Trailing zeros do not count as digits.
    written = "".join(map(str, number.as_tuple().digits))
    power = int(number.as_tuple().exponent) + len(written) - len(written.rstrip("0"))
    if max(number.adjusted() + 1, 1) + max(-power, 0) > MOST_DIGITS:
        raise NotStrictError
    return number


def _resolve(
    node: Any, path: tuple[str | int, ...], repeated: set[tuple[tuple[str | int, ...], str]]
) -> Any:
    if isinstance(node, list):
        return [_resolve(item, (*path, index), repeated) for index, item in enumerate(node)]
    if not isinstance(node, _Members):
        return node
    last = dict(node.pairs)
    names = [name for name, _ in node.pairs]
    repeated.update((path, name) for name in last if names.count(name) > 1)
    return {name: _resolve(item, (*path, name), repeated) for name, item in last.items()}
