"""Members of a JSON object, as the texts that they were written as."""

import msgspec

__all__ = ["member_text", "with_member"]

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def member_text(text: bytes, name: str) -> bytes:
    """Return the JSON text of the member *name* of the JSON object *text*, which has it."""
    return bytes(_MEMBERS.decode(text)[name])


def with_member(text: bytes, name: str, value: bytes) -> bytes:
    """Return the JSON object *text* with *value*, a JSON text, as its member *name*."""
    members = _MEMBERS.decode(text)
    return msgspec.json.encode({**members, name: msgspec.Raw(value)})
