"""What is judged: payloads, and the items of a batch.

A payload given as ``bytes`` is JSON text in UTF-8 and is sent untouched: bytes
that came over a wire are best judged as they came, for decoding and encoding
them again hides duplicate keys and other faults. Any other value is encoded, so
a ``str`` is a JSON string and not JSON text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck.options import Options
from sidecheck.targets import Target

__all__ = ["Arguments", "Item", "Payload", "StructuredContent", "Subject"]

#: JSON text as ``bytes``, or any value that JSON can express.
Payload: TypeAlias = bytes | Mapping[str, Any] | Sequence[Any] | str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a tool call, judged under the tool's input schema."""

    payload: Payload


@dataclass(frozen=True, slots=True)
class StructuredContent:
    """The structured content of a tool's result, judged under its output schema."""

    payload: Payload


#: A payload and the part that it plays. Under a bare schema both parts are equal.
Subject: TypeAlias = Arguments | StructuredContent


@dataclass(frozen=True, slots=True)
class Item:
    """One payload of a batch, with what it does not share with the others."""

    subject: Subject
    #: Replaces the target of the batch.
    target: Target | None = None
    #: Replaces the options of the batch as a whole, never field by field.
    options: Options | None = None
