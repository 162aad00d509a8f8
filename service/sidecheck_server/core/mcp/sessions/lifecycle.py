"""The handshake of versions up to 2025-11-25: initialize, its answer, initialized."""

from enum import Enum, auto

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    INITIALIZE_NOT_FIRST,
    INITIALIZED_EARLY,
    INITIALIZED_MISSING,
    REQUEST_TOO_EARLY,
)
from sidecheck_server.core.mcp.sessions.memory import Seen, Tell

__all__ = ["Lifecycle"]


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
