"""Values of ValidationService: subjects, options and outcomes.

A payload given as ``bytes`` is JSON text in UTF-8 and is sent unchanged; prefer this for
payloads that were received over a network, because decoding and encoding hide duplicate keys
and other faults. Any other value is encoded, as `sidecheck.json_texts` describes; a ``str``
is a JSON string, not JSON text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from sidecheck.errors import SidecheckError, Unavailable
from sidecheck.json_types import JsonBytes, JsonObject
from sidecheck.targets import Target
from sidecheck.values.validation_options import (
    Coercion,
    Detail,
    OnUnknownTool,
    Options,
    UnknownArguments,
)
from sidecheck.values.verdict import Severity, Verdict, Violation

__all__ = [
    "ABSENT",
    "SIDECHECK_UNAVAILABLE",
    "Absent",
    "Arguments",
    "CallParams",
    "CallResult",
    "Coercion",
    "Content",
    "Detail",
    "Item",
    "ObjectPayload",
    "OnUnavailable",
    "OnUnknownTool",
    "Options",
    "Payload",
    "StructuredContent",
    "Subject",
    "UnknownArguments",
    "ValidateOutcome",
    "fallback_verdict",
    "fill_item_version",
    "fill_version",
]

#: JSON text as ``bytes``, or any value that JSON can express.
Payload: TypeAlias = JsonBytes | JsonObject | Sequence[Any] | str | int | float | bool | None

#: JSON text as ``bytes``, or the object of a request or response.
ObjectPayload: TypeAlias = JsonBytes | JsonObject


class Absent(Enum):
    """Type of `ABSENT`."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return self.name


#: Absent structured content, in contrast to None, which is JSON's null.
ABSENT: Final[Literal[Absent.ABSENT]] = Absent.ABSENT

#: Structured content, or `ABSENT`.
Content: TypeAlias = Payload | Literal[Absent.ABSENT]


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a tool call, validated against the tool's input schema."""

    payload: Payload


@dataclass(frozen=True, slots=True)
class StructuredContent:
    """Structured content of a tool result, validated against the tool's output schema.

    `ABSENT` is invalid if the tool has an output schema.
    """

    payload: Content


@dataclass(frozen=True, slots=True)
class CallParams:
    """The complete ``params`` of a ``tools/call`` request.

    The arguments are validated against the tool's input schema. The target must be a
    tool; a `RegisteredTool` may omit its name, which is then read from the params.
    """

    payload: ObjectPayload


@dataclass(frozen=True, slots=True)
class CallResult:
    """A complete ``CallToolResult``.

    The structured content is validated against the tool's output schema, if the tool
    has one and the result is not an error. The target must be a tool.
    """

    payload: ObjectPayload


#: A payload and its role. With a bare schema as the target, arguments and structured
#: content are equivalent and the other two are errors.
Subject: TypeAlias = Arguments | StructuredContent | CallParams | CallResult


@dataclass(frozen=True, slots=True)
class Item:
    """One payload of a batch or stream, with optional target and options."""

    subject: Subject
    #: Replaces the target of the batch.
    target: Target | None = None
    #: Replaces the options of the batch as a whole, not field by field.
    options: Options | None = None


def fill_version(options: Options | None, protocol_version: str) -> Options | None:
    """Return *options* with *protocol_version* if they name none; "" changes nothing.

    Raises:
        TypeError: *options* are not `Options`.
    """
    if not isinstance(options, Options | None):
        raise TypeError(f"options must be Options, not {type(options).__name__}")
    if not protocol_version or (options is not None and options.protocol_version):
        return options
    return replace(options or Options(), protocol_version=protocol_version)


def fill_item_version(item: Item, protocol_version: str) -> Item:
    """Return *item* with *protocol_version* in its options, if they name no version.

    Options of an item replace all options of the batch, including their version.
    """
    if item.options is None:
        return item
    return replace(item, options=fill_version(item.options, protocol_version))


#: Outcome of one item of a batch or stream.
ValidateOutcome: TypeAlias = Verdict | SidecheckError

#: Policy for validations that no server answers: raise `Unavailable`, or return a
#: verdict that is valid ("allow") or invalid ("deny").
OnUnavailable: TypeAlias = Literal["error", "allow", "deny"]

#: Code of the only violation of a verdict without a server.
SIDECHECK_UNAVAILABLE: Final = "SIDECHECK_UNAVAILABLE"


def fallback_verdict(error: Unavailable, policy: OnUnavailable) -> Verdict:
    """Return the verdict of *policy* for a validation that no server answered.

    Raises:
        Unavailable: *error* itself, if *policy* is "error".
    """
    if policy == "error":
        raise error
    allowed = policy == "allow"
    violation = Violation(
        code=SIDECHECK_UNAVAILABLE,
        severity=Severity.WARNING if allowed else Severity.ERROR,
        message=f"not validated: {error}",
    )
    text = "" if allowed else "This could not be validated and was rejected. Try again later."
    return Verdict(valid=allowed, violations=(violation,), tool_error_text=text)
