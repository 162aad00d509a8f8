"""Requests and their responses: ids, and who answers what."""

from enum import Enum, auto

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    CANCELLED_BY_SERVER,
    CANCELLED_INITIALIZE,
    CANCELLED_UNKNOWN,
    INITIALIZE_NOT_FIRST,
    INITIALIZED_EARLY,
    INITIALIZED_MISSING,
    REQUEST_ID_IN_USE,
    REQUEST_ID_REUSED,
    REQUEST_TOO_EARLY,
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

__all__ = ["Exchange", "Lifecycle"]

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


class _Stage(Enum):
    NEW = auto()
    ASKED = auto()
    ANSWERED = auto()
    READY = auto()


_AT = ("method",)


class Lifecycle:
    """How far the handshake is. What is missing is told once, and then taken for granted."""

    def __init__(self) -> None:
        self._stage = _Stage.NEW

    def see(self, seen: Seen, tell: Tell) -> None:
        """Hold the message at hand against the stage."""
        if not INITIALIZE_NOT_FIRST.holds_in(seen.version):
            return
        method = seen.message.method
        match seen.message.kind:
            case Kind.RESULT if method == "initialize":
                self._stage = _Stage.ANSWERED
            case Kind.ERROR if method == "initialize":
                self._stage = _Stage.NEW
            case Kind.REQUEST | Kind.NOTIFICATION if method != "ping":
                if seen.sender is Sender.CLIENT:
                    self._of_client(seen, method, tell)
                else:
                    self._of_server(seen, tell)

    def _of_client(self, seen: Seen, method: str, tell: Tell) -> None:
        stage = self._stage
        if method == "initialize":
            if stage is not _Stage.NEW:
                tell(INITIALIZE_NOT_FIRST, Fault(_AT, "initialize was sent before"))
            self._stage = _Stage.ASKED
        elif method == "notifications/initialized":
            if stage in {_Stage.NEW, _Stage.ASKED}:
                tell(INITIALIZED_EARLY, Fault(_AT, "initialize has not been answered"))
            self._stage = _Stage.READY
        elif stage is _Stage.NEW:
            tell(INITIALIZE_NOT_FIRST, Fault(_AT, "initialize was not sent before"))
            self._stage = _Stage.READY
        elif seen.message.kind is Kind.REQUEST:
            if stage is _Stage.ASKED:
                tell(REQUEST_TOO_EARLY, Fault(_AT, "initialize has not been answered"))
            elif stage is _Stage.ANSWERED:
                said = "notifications/initialized was not sent before"
                tell(INITIALIZED_MISSING, Fault(_AT, said))
                self._stage = _Stage.READY

    def _of_server(self, seen: Seen, tell: Tell) -> None:
        if seen.message.kind is Kind.REQUEST and self._stage is not _Stage.READY:
            said = "the client has not sent notifications/initialized"
            tell(REQUEST_TOO_EARLY, Fault(_AT, said))
