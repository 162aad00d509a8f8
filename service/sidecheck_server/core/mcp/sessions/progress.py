"""Progress: tokens of requests under way, and values that rise."""

from dataclasses import dataclass

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    PROGRESS_NOT_RISING,
    PROGRESS_TOKEN_IN_USE,
    PROGRESS_TOKEN_UNKNOWN,
)
from sidecheck_server.core.mcp.sessions.memory import BoundedStore, Key, Seen, Tell, key_of, other

__all__ = ["Progress"]

_MOST = 10_000


@dataclass(slots=True)
class _Run:
    #: What the request is remembered by.
    request: Key
    last: float | None = None
    #: Whether the request was cancelled: progress under way may still arrive.
    cancelled: bool = False


class Progress:
    """The tokens under which each side may be told of progress."""

    def __init__(self) -> None:
        self._runs: dict[Sender, BoundedStore[_Run]] = {
            each: BoundedStore(_MOST) for each in Sender
        }
        #: The tokens of requests.
        self._tokens: dict[Sender, BoundedStore[Key]] = {
            each: BoundedStore(_MOST) for each in Sender
        }

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember the token of a request, and hold progress against it."""
        match seen.message.kind:
            case Kind.REQUEST:
                self._begin(seen, tell)
            case Kind.RESULT | Kind.ERROR if seen.answered is not None:
                # The token of a task is in use until the task ends.
                lasts = seen.answered.as_task and seen.message.kind is Kind.RESULT
                if seen.answered.token is not None and not lasts:
                    self._end(other(seen.sender), seen)
            case Kind.NOTIFICATION if seen.message.method == "notifications/cancelled":
                self._cancel(seen)
            case Kind.NOTIFICATION if seen.message.method == "notifications/progress":
                self._advance(seen, tell)

    def _begin(self, seen: Seen, tell: Tell) -> None:
        meta = seen.params.get("_meta")
        if not isinstance(meta, dict) or "progressToken" not in meta:
            return
        runs, key = self._runs[seen.sender], key_of(meta["progressToken"])
        run = runs.get(key)
        if run is not None and not run.cancelled:
            said = "a request with this progress token has no response yet"
            tell(PROGRESS_TOKEN_IN_USE, Fault(("params", "_meta", "progressToken"), said))
        runs.put(key, _Run(seen.key))
        self._tokens[seen.sender].put(seen.key, key)

    def _end(self, asker: Sender, seen: Seen) -> None:
        """Forget the token of the request that is answered, unless another request has it now."""
        token = self._tokens[asker].pop(seen.key)
        run = None if token is None else self._runs[asker].get(token)
        if token is not None and run is not None and run.request == seen.key:
            self._runs[asker].pop(token)

    def _cancel(self, seen: Seen) -> None:
        """Let the token of a request be used again: who cancels may never get a response."""
        request = key_of(seen.params.get("requestId"))
        token = self._tokens[seen.sender].get(request)
        run = None if token is None else self._runs[seen.sender].get(token)
        if run is not None and run.request == request:
            run.cancelled = True

    def _advance(self, seen: Seen, tell: Tell) -> None:
        if "progressToken" not in seen.params:
            return
        runs = self._runs[other(seen.sender)]
        run = runs.get(key_of(seen.params["progressToken"]))
        if run is None:
            if not runs.forgot:
                said = "no request under way has this progress token"
                tell(PROGRESS_TOKEN_UNKNOWN, Fault(("params", "progressToken"), said))
            return
        value = seen.params.get("progress")
        if not isinstance(value, int | float) or isinstance(value, bool):
            return
        if run.last is not None and value <= run.last:
            said = "the progress must be greater than in the notification before"
            tell(PROGRESS_NOT_RISING, Fault(("params", "progress"), said))
        else:
            run.last = value
