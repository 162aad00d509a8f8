"""Budget of a request: the total of the work that it may cause, in steps.

The methods that serve a request open a budget. Whatever works for the request charges it,
wherever that happens: in the event loop, in a thread, or in a worker.
"""

import math
from contextvars import ContextVar

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error, not_reached_error

__all__ = ["RequestWork", "charge_work", "current_work", "open_request"]


class RequestWork:
    """The steps that the rest of a request may take.

    Work is charged when it is done, so an item that is begun is also finished, and what a
    request takes exceeds its budget by one item, or one group of items, at most.
    """

    __slots__ = ("_at_item", "_left", "_limit")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._left = limit
        #: What was left when the current item began.
        self._at_item = limit

    def charge(self, steps: int) -> None:
        """Deduct *steps*."""
        self._left -= steps

    @property
    def spent(self) -> float:
        """Steps taken so far."""
        return self._limit - self._left

    @property
    def is_spent(self) -> bool:
        """Whether no step is left."""
        return self._left <= 0

    def begin_item(self) -> None:
        """Begin the next item of the request.

        Raises:
            RequestError: LIMIT_EXCEEDED if no step is left for it.
        """
        if self.is_spent:
            raise self.not_reached()
        self._at_item = self._left

    def require(self) -> None:
        """Check that a step is left, in the middle of an item.

        Raises:
            RequestError: LIMIT_EXCEEDED if none is.
        """
        if not self.is_spent:
            return
        if self._at_item < self._limit:
            # It may fit in a request of its own.
            raise self.not_reached()
        raise limit_exceeded_error("request_steps", int(self._limit), "the request takes too long")

    def not_reached(self) -> RequestError:
        """Return the error of an item for which no step is left."""
        return not_reached_error(int(self._limit))


_WORK: ContextVar[RequestWork] = ContextVar("_WORK")
"""The budget of the request that the current task works for."""

_UNBOUNDED = RequestWork(math.inf)


def open_request(limits: Limits) -> RequestWork:
    """Return a fresh budget, to which the current task and those it starts are charged."""
    work = RequestWork(limits.request_steps)
    _WORK.set(work)
    return work


def current_work() -> RequestWork:
    """Return the budget of the current task, which is unbounded outside of requests."""
    return _WORK.get(_UNBOUNDED)


def charge_work(steps: int) -> None:
    """Deduct *steps* from the budget of the current task."""
    _WORK.get(_UNBOUNDED).charge(steps)
