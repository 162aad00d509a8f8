"""What is judged: payloads, and the items of a batch.

A payload given as ``bytes`` is JSON text in UTF-8 and is sent untouched: bytes
that came over a wire are best judged as they came, for decoding and encoding
them again hides duplicate keys and other faults. Any other value is encoded, so
a ``str`` is a JSON string and not JSON text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from sidecheck.options import Options
from sidecheck.targets import Target

__all__ = [
    "ABSENT",
    "Absent",
    "Arguments",
    "CallParams",
    "CallResult",
    "Content",
    "Item",
    "Payload",
    "StructuredContent",
    "Subject",
]

#: JSON text as ``bytes``, or any value that JSON can express.
Payload: TypeAlias = bytes | Mapping[str, Any] | Sequence[Any] | str | int | float | bool | None


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return self.name


#: Stands for structured content that a result does not have. That is not None, which
#: is the value null.
ABSENT: Final[Literal[Absent.ABSENT]] = Absent.ABSENT

#: Structured content, or that there is none.
Content: TypeAlias = Payload | Literal[Absent.ABSENT]


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a tool call, judged under the tool's input schema."""

    payload: Payload


@dataclass(frozen=True, slots=True)
class StructuredContent:
    """The structured content of a tool's result, judged under its output schema.

    `ABSENT` is invalid if the tool has an output schema.
    """

    payload: Content


@dataclass(frozen=True, slots=True)
class CallParams:
    """The whole ``params`` of a ``tools/call`` request.

    Its arguments are judged under the tool's input schema. The target is a tool, and a
    `RegisteredTool` may leave out its name: then the params say it.
    """

    payload: Payload


@dataclass(frozen=True, slots=True)
class CallResult:
    """A whole ``CallToolResult``.

    Its structured content is judged under the tool's output schema, if the tool has one
    and the result is no error. The target is a tool.
    """

    payload: Payload


#: A payload and the part that it plays. Under a bare schema arguments and structured
#: content are equal, and the others have no meaning.
Subject: TypeAlias = Arguments | StructuredContent | CallParams | CallResult


@dataclass(frozen=True, slots=True)
class Item:
    """One payload of a batch, with what it does not share with the others."""

    subject: Subject
    #: Replaces the target of the batch.
    target: Target | None = None
    #: Replaces the options of the batch as a whole, never field by field.
    options: Options | None = None
