"""Refusals: no judgement could be made, and why.

All ways in which a call can fail other than by a wrong argument of its own::

    Exception
    ├── Refused                    the server refuses; ``reason`` says why
    │   ├── Unavailable            nobody was there to answer in time
    │   │   └── StreamUnavailable  for the rest of a stream; also a StreamEnded
    │   └── StreamEnded            a stream ended early; ``unanswered`` says what for
    └── InvalidPayload             raised by `Verdict.raise_for_invalid` alone

An invalid payload is no refusal: it is judged, and the verdict is returned.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import grpc

__all__ = ["SidecheckError", "StreamEnded", "StreamUnavailable", "Unavailable"]


class SidecheckError(Exception):
    """No judgement could be made.

    ``reason`` is the server's stable reason in upper snake case, for example
    ``UNKNOWN_TOOL``; where the refusal came from gRPC itself, it is the name of
    the status. ``metadata`` holds the dynamic parts of the message by name.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        metadata: Mapping[str, str] = MappingProxyType({}),
        status: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
    ) -> None:
        # A plain dict among the arguments lets pickle carry the refusal.
        super().__init__(reason, message, dict(metadata), status)
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata)
        self.status = status

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.args == getattr(other, "args", None)

    def __hash__(self) -> int:
        return hash((self.reason, self.message))


class Unavailable(SidecheckError):
    """No server answered in time, after every retry that the deadline allows.

    That is the status ``UNAVAILABLE`` or ``DEADLINE_EXCEEDED`` without a reason of
    Sidecheck's own, or the reason ``SHUTTING_DOWN``. What the client's
    ``on_unavailable`` says applies to this refusal and no other.
    """


class StreamEnded(SidecheckError):
    """A stream ended before its caller had said that no more items come, or before all answers.

    ``unanswered`` holds the ids of the items that were taken and have no answer, in
    their order. They are not tried again, and may be: in another stream.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        metadata: Mapping[str, str] = MappingProxyType({}),
        status: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        unanswered: Iterable[str] = (),
    ) -> None:
        super().__init__(reason, message, metadata, status)
        self.unanswered = tuple(unanswered)
        self.args = (*self.args, self.unanswered)

    def __str__(self) -> str:
        return f"{super().__str__()} ({len(self.unanswered):,} items have no answer)"


class StreamUnavailable(StreamEnded, Unavailable):
    """A stream ended because its server stopped, was lost or did not answer in time.

    It is raised whatever the client's ``on_unavailable`` says: only the caller knows
    what to do with the rest of its items.
    """
