"""Pauses between the attempts of a watch to connect."""

from random import uniform
from time import monotonic
from typing import Final

import grpc

from sidecheck.errors import Unavailable

__all__ = ["Reconnection"]

#: Minimum and maximum seconds between two attempts to connect; each attempt doubles the pause.
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0

#: Status codes that another attempt would have as well.
PERMANENT_CODES: Final = frozenset(
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
        """Record an event of the server, which resets the pause and the patience."""
        self._last_event = monotonic()
        self._pause = FIRST_PAUSE

    def next_pause(self, error: Unavailable) -> float:
        """Return the seconds to wait after *error*, with jitter.

        Raises:
            Unavailable: *error* itself, if another attempt would fail as well, or be too late.
        """
        # The jitter is not a secret.
        delay = max(error.retry_after or 0.0, uniform(self._pause / 2, self._pause))  # noqa: S311
        if (
            error.status in PERMANENT_CODES
            or monotonic() - self._last_event + delay > self._patience
        ):
            raise error
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return delay
