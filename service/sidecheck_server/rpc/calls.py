"""Calls of methods, independent of the transport."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from google.rpc.status_pb2 import Status

from sidecheck_server.core.errors import ErrorReason

__all__ = ["Call", "CallFailed", "has_passed_deadline"]


class Call(Protocol):
    """Peer, metadata and deadline of a call.

    A call that is cancelled, or whose deadline has passed, cancels the task of the method.
    """

    @property
    def peer(self) -> str:
        """Name of the caller, as the transport identifies it."""
        ...

    @property
    def metadata(self) -> Mapping[str, str]:
        """Text metadata, by their names in lower case."""
        ...

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline, or None if there is none."""
        ...

    def observe(
        self, fields: Mapping[str, Any], codes: Mapping[str, int], reasons: Mapping[str, int]
    ) -> None:
        """Record the log *fields* of the responses.

        *codes* are numbers of verdicts, by the codes of their violations; *reasons* are numbers
        of items without a verdict, by reason.
        """
        ...

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Record the reason why the call failed; None for an unexpected exception."""
        ...


_TRANSIT_SECONDS: Final = 0.05
"""Maximum seconds for a call to reach the server."""


def has_passed_deadline(remaining: float | None, seconds: float) -> bool:
    """Return whether the deadline of a call, rather than its peer, cancelled it.

    *remaining* are the seconds until the deadline, or None, after the server spent *seconds* on
    the call. The client measures from the sending of the call, and the wire format rounds the
    deadline to two digits or more, so that a deadline may pass a little early.
    """
    return remaining is not None and remaining <= max(_TRANSIT_SECONDS, 0.01 * seconds)


class CallFailed(Exception):
    """Ends a call with *status*, the complete error for the caller."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status
