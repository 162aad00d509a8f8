"""Elicitations by URL, which are told to be complete later (2025-11-25)."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import ELICITATION_ID_UNKNOWN
from sidecheck_server.core.mcp.sessions.memory import BoundedStore, Seen, Tell, key_of

__all__ = ["Elicitations"]

_MOST = 10_000
_MOST_IN_ONE = 100


class Elicitations:
    """The ids that elicitations began with."""

    def __init__(self) -> None:
        self._begun: BoundedStore[bool] = BoundedStore(_MOST)

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember the id of an elicitation, and hold its completion against it."""
        if not ELICITATION_ID_UNKNOWN.holds_in(seen.version):
            return
        match seen.message.kind:
            case Kind.REQUEST if seen.message.method == "elicitation/create":
                self._begin(seen.params)
            case Kind.ERROR:
                for elicitation in _required(seen.message.value):
                    self._begin(elicitation)
            case Kind.NOTIFICATION if seen.message.method == "notifications/elicitation/complete":
                id_ = seen.params.get("elicitationId")
                unknown = isinstance(id_, str) and key_of(id_) not in self._begun
                if unknown and not self._begun.forgot:
                    said = "no elicitation of this session has this id"
                    tell(ELICITATION_ID_UNKNOWN, Fault(("params", "elicitationId"), said))

    def _begin(self, elicitation: Any) -> None:
        id_ = elicitation.get("elicitationId") if isinstance(elicitation, dict) else None
        if isinstance(id_, str):
            self._begun.put(key_of(id_), value=True)


def _required(response: Any) -> Iterator[Any]:
    """Yield the elicitations that an error asks for first (URLElicitationRequiredError)."""
    error = response.get("error") if isinstance(response, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    asked = data.get("elicitations") if isinstance(data, dict) else None
    if isinstance(asked, list):
        yield from asked[:_MOST_IN_ONE]
