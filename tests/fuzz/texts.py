"""Changed and malformed JSON texts, with marks that identify the call of a text."""

import json
import math
import re
import zlib
from random import Random
from typing import Any

from agreement.mutations import mutated
from agreement.values import NAMES

__all__ = ["changed_text", "mark_of", "marks_in"]

_MARK = re.compile(rb"xFZ([0-9a-f]{6})([0-9a-f]{8})Q")
_KEYWORDS = ("type", "properties", "required", "items", "enum", "not", "$ref", "pattern", "anyOf")
_DEEP = (10, 63, 64, 65, 127, 128, 129, 2000)
_HUGE = (100, 4_000, 70_000)


def mark_of(serial: int) -> str:
    """Return a text that only the exchange *serial* contains."""
    number = f"{serial:06x}"
    return f"xFZ{number}{_sum(number.encode())}Q"


def marks_in(text: bytes) -> set[int]:
    """Return the serial numbers of the marks in *text*."""
    return {
        int(number, 16) for number, sum_ in _MARK.findall(text) if _sum(number) == sum_.decode()
    }


def _sum(number: bytes) -> str:
    """Return the checksum of a mark, which a corrupt mark does not match."""
    return f"{zlib.crc32(number):08x}"


def changed_text(random: Random, text: bytes, mark: str) -> bytes:
    """Return the JSON text *text* with changes, in most cases with *mark* in it."""
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite)
        if random.random() < 0.6:
            value = mutated(random, value, (*NAMES, *_KEYWORDS))
        if random.random() < 0.8:
            value = _marked(random, value, mark)
        json_text = json.dumps(value, ensure_ascii=random.random() < 0.5)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return text if random.random() < 0.5 else _broken(random, text, mark)
    changed = json_text.encode("utf-8", "surrogatepass")
    return _broken(random, changed, mark) if random.random() < 0.15 else changed


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _marked(random: Random, value: Any, mark: str) -> Any:
    """Return *value* with *mark* as a name, as a string, or as a part of a string."""
    if isinstance(value, dict) and value and random.random() < 0.7:
        name = random.choice(list(value))
        change = random.randrange(4)
        if change == 0:
            return {**value, mark: value[name]}
        if change == 1:
            return {(mark if key == name else key): under for key, under in value.items()}
        return {**value, name: _marked(random, value[name], mark)}
    if isinstance(value, dict):
        return {**value, random.choice(("description", "const", "pattern", "$ref", "x")): mark}
    if isinstance(value, list) and value:
        place = random.randrange(len(value))
        return [*value[:place], _marked(random, value[place], mark), *value[place + 1 :]]
    return f"{value}{mark}" if isinstance(value, str) and random.random() < 0.5 else mark


def _broken(random: Random, text: bytes, mark: str) -> bytes:
    """Return malformed or unusual JSON."""
    marked = json.dumps(mark).encode()
    place = random.randint(0, len(text))
    deep = random.choice(_DEEP)
    huge = random.choice(_HUGE)
    return random.choice(
        (
            text[:place],
            text[:place] + marked + text[place:],
            text[:place] + random.randbytes(random.randint(1, 4)) + text[place:],
            text + text,
            b"",
            b"\xef\xbb\xbf" + text,
            b'"' + mark.encode() + b'\xff\xfe"',
            b'{"a": "\\ud800' + mark.encode() + b'"}',
            b"{" + marked + b": 1, " + marked + b": 2}",
            b"[" * deep + marked + b"]" * deep,
            b'{"a":' * deep + marked + b"}" * deep,
            b"[" * huge,
            b"[" + b"1," * huge + marked + b"]",
            b"9" * huge,
            b"1e" + b"9" * random.choice((3, 20, 4000)),
            b"-0.000000000000000000000000000000000000000001e-400",
            b"NaN",
            b'{"const": ' + b"[" * 60 + marked + b"]" * 60 + b"}",
            b'{"pattern": "(' + mark.encode() + b'"}',
            b'{"pattern": "' + b"(a+)+" * 40 + mark.encode() + b'"}',
            b'{"$ref": "' + mark.encode() + b'"}',
            b'{"$schema": "http://example.com/' + mark.encode() + b'"}',
            b'{"enum": [' + b",".join(b'"%d"' % number for number in range(huge // 10)) + b"]}",
            b'{"allOf": [' + b'{"$ref": "#"},' * 20 + b"{}]}",
            text.decode("utf-8", "replace").encode("utf-16"),
        )
    )
