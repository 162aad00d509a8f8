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
from sidecheck_server.core.mcp.sessions.memory import Kept, Seen, Tell, key_of, other

__all__ = ["Progress"]

_MOST = 10_000


@dataclass(slots=True)
class _Run:
    last: float | None = None


class Progress:
    """The tokens under which each side may be told of progress."""

    def __init__(self) -> None:
        self._runs: dict[Sender, Kept[_Run]] = {each: Kept(_MOST) for each in Sender}

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember the token of a request, and hold progress against it."""
        match seen.message.kind:
            case Kind.REQUEST:
                self._begin(seen, tell)
            case Kind.RESULT | Kind.ERROR if seen.answered is not None:
                # The token of a task is in use until the task ends.
                lasts = seen.answered.as_task and seen.message.kind is Kind.RESULT
                if seen.answered.token is not None and not lasts:
                    self._runs[other(seen.sender)].pop(seen.answered.token)
            case Kind.NOTIFICATION if seen.message.method == "notifications/progress":
                self._advance(seen, tell)

    def _begin(self, seen: Seen, tell: Tell) -> None:
        meta = seen.params.get("_meta")
        if not isinstance(meta, dict) or "progressToken" not in meta:
            return
        runs, key = self._runs[seen.sender], key_of(meta["progressToken"])
        if key in runs:
            said = "a request with this progress token has no response yet"
            tell(PROGRESS_TOKEN_IN_USE, Fault(("params", "_meta", "progressToken"), said))
        runs.put(key, _Run())

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
