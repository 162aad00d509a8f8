"""Members of a JSON object, as the texts that they were written as."""

import re

import msgspec

__all__ = ["is_object", "member_text", "with_member"]

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


_OBJECT = re.compile(rb"[ \t\n\r]*\{")


def is_object(text: bytes) -> bool:
    """Return whether *text*, if it is JSON, is an object."""
    return _OBJECT.match(text) is not None


def member_text(text: bytes, name: str) -> bytes:
    """Return the JSON text of the member *name* of the JSON object *text*, which has it."""
    return bytes(_MEMBERS.decode(text)[name])


def with_member(text: bytes, name: str, value: bytes) -> bytes:
    """Return the JSON object *text* with *value*, a JSON text, as its member *name*."""
    members = _MEMBERS.decode(text)
    return msgspec.json.encode({**members, name: msgspec.Raw(value)})
