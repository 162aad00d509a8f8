"""Reduction of a finding to a small request."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.exchanges import Exchange
from fuzz.properties import Finding
from fuzz.rpcs import rpc_named
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

__all__ = ["shrunk"]

_ATTEMPTS = 300
_SECONDS = 20.0


def shrunk(finding: Finding, examine: Callable[[Exchange], list[Finding]]) -> Finding:
    """Return a finding of the same kind with parts of its request removed.

    The reduction is greedy, and its time is bounded. A finding of several calls, or that does
    not occur again, is returned unchanged.
    """
    if not finding.exchanges or len({exchange.serial for exchange in finding.exchanges}) > 1:
        return finding
    candidates = _smaller(finding.exchanges[0])
    end = time.monotonic() + _SECONDS
    for _ in range(_ATTEMPTS):
        candidate = next(candidates, None)
        if candidate is None or time.monotonic() > end:
            break
        same_finding = next(
            (
                candidate_finding
                for candidate_finding in examine(candidate)
                if candidate_finding.kind == finding.kind
            ),
            None,
        )
        if same_finding is not None:
            finding = same_finding
            candidates = _smaller(candidate)
    return finding


def _smaller(exchange: Exchange) -> Iterator[Exchange]:
    messages = exchange.messages
    descriptor = rpc_named(exchange.path).request
    for place, message in enumerate(messages):
        before, after = messages[:place], messages[place + 1 :]
        if len(messages) > 1:
            yield replace(exchange, messages=before + after)
        for smaller in _smaller_message(message, descriptor):
            yield replace(exchange, messages=(*before, smaller, *after))


def _smaller_message(data: bytes, descriptor: Descriptor) -> Iterator[bytes]:
    try:
        message = GetMessageClass(descriptor).FromString(data)
    except DecodeError:
        yield from _smaller_text(data)
        return
    message.DiscardUnknownFields()
    canonical = message.SerializeToString()
    if len(canonical) < len(data):
        yield canonical
    for smaller in _with_less(message):
        yield smaller.SerializeToString()


def _with_less(message: Message) -> Iterator[Message]:
    """Yield copies of *message* without a field, an item or a part of a text."""
    for field, value in message.ListFields():
        copy = type(message)()
        copy.CopyFrom(message)
        copy.ClearField(field.name)
        yield copy
        values = list(value) if field.is_repeated else [value]
        for place, element in enumerate(values):
            for smaller in (*([None] if field.is_repeated else []), *_less(element)):
                copy = type(message)()
                copy.CopyFrom(message)
                _put(copy, field.name, place if field.is_repeated else None, smaller)
                yield copy


def _less(value: object) -> Iterator[object]:
    if isinstance(value, Message):
        yield from _with_less(value)
    elif isinstance(value, bytes):
        yield from _smaller_text(value)
    elif isinstance(value, str):
        yield from (value[: len(value) // 2], value[len(value) // 2 :])


def _put(message: Message, name: str, place: int | None, value: object) -> None:
    if place is None:
        if isinstance(value, Message):
            getattr(message, name).CopyFrom(value)
        else:
            setattr(message, name, value)
        return
    values = list(getattr(message, name))
    values[place : place + 1] = [] if value is None else [value]
    message.ClearField(name)
    getattr(message, name).extend(values)


def _smaller_text(data: bytes) -> Iterator[bytes]:
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2
