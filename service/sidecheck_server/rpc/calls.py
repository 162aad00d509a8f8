"""Calls of methods, whatever carries them."""

from collections.abc import Mapping
from typing import Protocol

from google.rpc.status_pb2 import Status

__all__ = ["Call", "CallFailed"]


class Call(Protocol):
    """What a method may know of a call beside its request.

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


class CallFailed(Exception):
    """Ends a call with *status*, which has all that the caller is told."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status
