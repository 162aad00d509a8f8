"""Corrupts serialized messages as a broken or hostile caller might.

The wire format is that of Protocol Buffers
(https://protobuf.dev/programming-guides/encoding/).
"""

from collections.abc import Callable, Iterator
from random import Random

from google.protobuf.descriptor import Descriptor, FieldDescriptor

__all__ = ["corrupt"]

_LENGTH_DELIMITED = 2
_FIXED = {1: 8, 5: 4}
_HUGE = (2**20, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1)


def corrupt(random: Random, data: bytes, descriptor: Descriptor) -> bytes:
    """Return *data*, a message of the type *descriptor*, with a random corruption."""
    return random.choice(_CORRUPTIONS)(random, data, descriptor)


def _cut(random: Random, data: bytes, _: Descriptor) -> bytes:
    return data[: random.randint(0, max(len(data) - 1, 0))]


def _flipped(random: Random, data: bytes, _: Descriptor) -> bytes:
    changed = bytearray(data or b"\0")
    for _time in range(random.choice((1, 1, 4))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _random(random: Random, _data: bytes, _: Descriptor) -> bytes:
    return random.randbytes(random.choice((1, 2, 8, 40, 3000)))


def _doubled(_random_: Random, data: bytes, _: Descriptor) -> bytes:
    """Repeat every field; a reader takes the last value, or merges the messages."""
    return data + data


def _shuffled(random: Random, data: bytes, _: Descriptor) -> bytes:
    fields = [raw for _, _, raw in _fields(data)]
    random.shuffle(fields)
    return b"".join(fields)


def _unknown(random: Random, data: bytes, _: Descriptor) -> bytes:
    number = random.choice((999, 18_999, 19_500, 2**29 - 1, 2**29, 0))
    contents: tuple[tuple[int, bytes], ...] = (
        (0, _varint(random.choice(_HUGE))),
        (1, random.randbytes(8)),
        (_LENGTH_DELIMITED, _varint(3) + b"abc"),
        (3, _tag(number, 4)),
        (3, _tag(5, 3) * 200 + _tag(5, 4) * 200 + _tag(number, 4)),
        (3, b""),
        (4, b""),
        (5, random.randbytes(4)),
        (6, b""),
        (7, b"abc"),
    )
    kind, content = random.choice(contents)
    return data + _tag(number, kind) + content


def _of_wrong_type(random: Random, data: bytes, descriptor: Descriptor) -> bytes:
    number = random.choice(descriptor.fields).number if descriptor.fields else 1
    content = random.choice((b"", _varint(1), random.randbytes(8), _varint(2) + b"ab"))
    return data + _tag(number, random.randrange(8)) + content


def _of_huge_length(random: Random, data: bytes, descriptor: Descriptor) -> bytes:
    number = random.choice(descriptor.fields).number if descriptor.fields else 1
    return data + _tag(number, _LENGTH_DELIMITED) + _varint(random.choice(_HUGE)) + b"abc"


def _not_utf8(random: Random, data: bytes, descriptor: Descriptor) -> bytes:
    """Add a string that is not UTF-8, which proto3 forbids, to some nested message."""
    strings = [f for f in descriptor.fields if f.type == FieldDescriptor.TYPE_STRING]
    messages = _messages_in(descriptor)
    if strings and (not messages or random.random() < 0.5):
        text = random.choice((b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"))
        return data + _delimited(random.choice(strings).number, text)
    if messages:
        number, inside = random.choice(list(messages.items()))
        return data + _delimited(number, _not_utf8(random, b"", inside))
    return data + b"\xff"


def _nested(random: Random, data: bytes, descriptor: Descriptor) -> bytes:
    """Corrupt a nested message, and write its correct length."""
    by_number = _messages_in(descriptor)
    fields = list(_fields(data))
    inside = [
        place
        for place, (number, kind, _) in enumerate(fields)
        if number in by_number and kind == _LENGTH_DELIMITED
    ]
    if not inside:
        return _flipped(random, data, descriptor)
    place = random.choice(inside)
    number, _, raw = fields[place]
    head = len(_tag(number, _LENGTH_DELIMITED))
    _, start = _read_varint(raw, head)
    message = corrupt(random, raw[start:], by_number[number])
    fields[place] = (number, _LENGTH_DELIMITED, _delimited(number, message))
    return b"".join(raw for _, _, raw in fields)


def _long(random: Random, data: bytes, descriptor: Descriptor) -> bytes:
    """Make a message long, up to and beyond the server's maximum."""
    number = random.choice(descriptor.fields).number if descriptor.fields else 1
    size = random.choice((1 << 16, 1 << 20, (4 << 20) - len(data) - 16, (4 << 20) + 1))
    return data + _delimited(number, b"x" * max(size, 0))


_CORRUPTIONS: tuple[Callable[[Random, bytes, Descriptor], bytes], ...] = (
    *(_cut, _flipped, _random, _doubled, _shuffled, _unknown, _of_wrong_type),
    *(_of_huge_length, _not_utf8, _nested, _nested, _nested, _cut, _flipped, _unknown),
    *(_of_wrong_type, _not_utf8, _of_huge_length, _long),
)


def _messages_in(descriptor: Descriptor) -> dict[int, Descriptor]:
    """Return the types of the nested messages by field number."""
    return {f.number: f.message_type for f in descriptor.fields if f.message_type is not None}


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the number, the wire type and all bytes of each field of a valid message."""
    place = 0
    while place < len(data):
        tag, end = _read_varint(data, place)
        kind = tag & 7
        if kind == _LENGTH_DELIMITED:
            length, end = _read_varint(data, end)
            end += length
        elif kind == 0:
            _, end = _read_varint(data, end)
        else:
            end += _FIXED[kind]
        yield tag >> 3, kind, data[place:end]
        place = end


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return value, place
        shift += 7


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*written, value))


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _delimited(number: int, content: bytes) -> bytes:
    return _tag(number, _LENGTH_DELIMITED) + _varint(len(content)) + content
