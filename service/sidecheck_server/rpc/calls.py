"""Calls of methods, whatever carries them."""

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
        """Who calls, as the transport names it."""
        ...

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata that are text, by their names in lower case."""
        ...

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline, None if there is none."""
        ...

    def observe(
        self, fields: Mapping[str, Any], codes: Mapping[str, int], reasons: Mapping[str, int]
    ) -> None:
        """Take what is logged of the responses.

        *codes* are how many verdicts have each code; *reasons*, how many items have none, by
        the reason.
        """
        ...

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Take why the call failed; None if it was unexpected."""
        ...


_WAY_SECONDS: Final = 0.05
"""How long a call may be under way to the server."""


def has_passed_deadline(left: float | None, seconds: float) -> bool:
    """Return whether the deadline ended a call, rather than its peer.

    *left* are the seconds until the deadline, None if there is none, after the call took
    *seconds* here. The peer's clock began before ours, by the time that the call was under way,
    and its deadline is rounded on the wire to two digits or more.
    """
    return left is not None and left <= max(_WAY_SECONDS, 0.01 * seconds)


class CallFailed(Exception):
    """Ends a call with *status*, which has all that the caller is told."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status
