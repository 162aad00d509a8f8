"""Pauses of a watch between its attempts to connect."""

from random import uniform
from time import monotonic
from typing import Final

import grpc

from sidecheck.errors import Unavailable

__all__ = ["Reconnection"]

#: Seconds between two attempts to connect: they double, up to the longest.
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0

#: What another attempt would end with, too.
LASTING: Final = frozenset(
    {
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)


class Reconnection:
    """Pauses between attempts to connect, for *patience* seconds without an event."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self.note_event()

    def note_event(self) -> None:
        """Begin anew: the server was heard."""
        self._heard = monotonic()
        self._pause = FIRST_PAUSE

    def next_pause(self, error: Unavailable) -> float:
        """Return the seconds to wait after *error*; random, so that clients come one by one.

        Raises:
            Unavailable: *error* itself, if another attempt is of no use or too late.
        """
        # No secret depends on it.
        delay = max(error.retry_after or 0.0, uniform(self._pause / 2, self._pause))  # noqa: S311
        if error.status in LASTING or monotonic() - self._heard + delay > self._patience:
            raise error
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return delay
