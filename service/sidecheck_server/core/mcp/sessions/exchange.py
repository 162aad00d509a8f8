"""Requests and their responses: ids, and who answers what."""

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    CANCELLED_BY_SERVER,
    CANCELLED_INITIALIZE,
    CANCELLED_UNKNOWN,
    REQUEST_ID_IN_USE,
    REQUEST_ID_REUSED,
    RESPONSE_WITHOUT_REQUEST,
)
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Request,
    Seen,
    Tell,
    key_of,
    other,
)

__all__ = ["Exchange"]

_MOST_IDS = 100_000
_MOST_BYTES = 8 << 20
"""What open requests may weigh together, for each side."""

_WEIGHT = 512
"""What a request weighs beside what it holds, in bytes."""


class Exchange:
    """The requests of both sides: those that have no response yet, and all ids."""

    def __init__(self) -> None:
        self._open: dict[Sender, BoundedStore[Request]] = {
            each: BoundedStore(_MOST_BYTES) for each in Sender
        }
        self._used: dict[Sender, BoundedStore[bool]] = {
            each: BoundedStore(_MOST_IDS) for each in Sender
        }

    def open(self, sender: Sender, key: Key) -> Request | None:
        """Return the request of *sender* under *key* that has no response yet."""
        return self._open[sender].get(key)

    def opened(self, sender: Sender, key: Key, request: Request) -> None:
        """Remember a request that was sent."""
        self._open[sender].put(key, request, _WEIGHT + request.weight)
        self._used[sender].put(key, value=True)

    def closed(self, sender: Sender, key: Key) -> Request | None:
        """Return the request of *sender* that is answered now."""
        return self._open[sender].pop(key)

    def see(self, seen: Seen, tell: Tell) -> None:
        """Hold the id of the message at hand against those before it."""
        match seen.message.kind:
            case Kind.REQUEST:
                self._request(seen, tell)
            case Kind.RESULT | Kind.ERROR:
                self._response(seen, tell)
            case Kind.NOTIFICATION if seen.message.method == "notifications/cancelled":
                self._cancelled(seen, tell)

    def _request(self, seen: Seen, tell: Tell) -> None:
        if seen.key in self._open[seen.sender]:
            tell(REQUEST_ID_IN_USE, Fault(("id",), "a request with this id has no response yet"))
        if seen.key in self._used[seen.sender]:
            tell(REQUEST_ID_REUSED, Fault(("id",), "an earlier request has this id"))

    def _response(self, seen: Seen, tell: Tell) -> None:
        asker = other(seen.sender)
        if seen.answered is not None or seen.message.id is None or self._open[asker].forgot:
            return
        known = seen.key in self._used[asker]
        said = "the request with this id has its response" if known else "no request has this id"
        tell(RESPONSE_WITHOUT_REQUEST, Fault(("id",), f"{said}; it was to be one of the {asker}"))

    def _cancelled(self, seen: Seen, tell: Tell) -> None:
        if "requestId" not in seen.params:
            return
        at = ("params", "requestId")
        key = key_of(seen.params["requestId"])
        mine = self._open[seen.sender].get(key)
        if seen.sender is Sender.SERVER and REQUEST_ID_IN_USE.holds_in(seen.version):
            of_client = self._open[Sender.CLIENT].get(key)
            if of_client is None or of_client.method != "subscriptions/listen":
                tell(CANCELLED_BY_SERVER, Fault(at, "this is no open subscriptions/listen request"))
            else:
                self._open[Sender.CLIENT].pop(key)
        elif mine is not None and mine.method == "initialize":
            tell(CANCELLED_INITIALIZE, Fault(at, "initialize cannot be cancelled"))
        elif key not in self._used[seen.sender] and not self._used[seen.sender].forgot:
            said = f"no request of the {seen.sender} has this id"
            tell(CANCELLED_UNKNOWN, Fault(at, said))
