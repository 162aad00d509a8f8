"""Subscriptions: notifications that the client asked for (since 2026-07-28)."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    SUBSCRIPTION_NOT_ACKNOWLEDGED,
    SUBSCRIPTION_NOT_ASKED,
    SUBSCRIPTION_UNKNOWN,
)
from sidecheck_server.core.mcp.sessions.memory import BoundedStore, Key, Seen, Tell, key_of

__all__ = ["Subscriptions"]

_MOST = 100_000
_FILTERS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/resources/updated": "resourceSubscriptions",
}
_BORDERS = re.compile("[/?#]")
_MOST_BORDERS = 64
"""How many of the borders of a URI may be the end of the one that was subscribed to."""

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_ID = "io.modelcontextprotocol/subscriptionId"


@dataclass(slots=True)
class _Stream:
    wanted: frozenset[str]
    uris: frozenset[Key]
    acknowledged: bool = False


class Subscriptions:
    """The subscriptions that are open, by the id of their request."""

    def __init__(self) -> None:
        self._streams: BoundedStore[_Stream] = BoundedStore(_MOST)

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember what is subscribed to, and hold notifications against it."""
        if not SUBSCRIPTION_UNKNOWN.holds_in(seen.version):
            return
        method = seen.message.method
        match seen.message.kind:
            case Kind.REQUEST if method == "subscriptions/listen":
                stream = _stream(seen.params.get("notifications"))
                self._streams.put(seen.key, stream, 1 + len(stream.uris))
            case Kind.RESULT | Kind.ERROR if method == "subscriptions/listen":
                self._streams.pop(seen.key)
            case Kind.NOTIFICATION if method == "notifications/cancelled":
                # What was under way when the client cancelled arrives all the same.
                if seen.sender is Sender.SERVER:
                    self._streams.pop(key_of(seen.params.get("requestId")))
            case Kind.NOTIFICATION if method == _ACKNOWLEDGED or method in _FILTERS:
                if seen.sender is Sender.SERVER:
                    self._notified(seen, method, tell)

    def _notified(self, seen: Seen, method: str, tell: Tell) -> None:
        meta = seen.params.get("_meta")
        id_ = meta.get(_ID) if isinstance(meta, dict) else None
        stream = self._streams.get(key_of(id_))
        if stream is None:
            if not self._streams.forgot:
                _tell_unknown(seen.params, id_, tell)
        elif method == _ACKNOWLEDGED:
            stream.acknowledged = True
        else:
            if not stream.acknowledged:
                stream.acknowledged = True
                said = f"{_ACKNOWLEDGED} was not sent before"
                tell(SUBSCRIPTION_NOT_ACKNOWLEDGED, Fault(("method",), said))
            name = _FILTERS[method]
            if name not in stream.wanted:
                said = f"the subscription did not ask for {name}"
                tell(SUBSCRIPTION_NOT_ASKED, Fault(("method",), said))
            elif name == "resourceSubscriptions" and not _is_within(seen.params, stream.uris):
                said = "the subscription did not ask for this resource"
                tell(SUBSCRIPTION_NOT_ASKED, Fault(("params", "uri"), said))


def _tell_unknown(params: dict[str, Any], id_: Any, tell: Tell) -> None:
    if id_ is None:
        at: tuple[str, ...] = ("params",) if params else ()
        tell(SUBSCRIPTION_UNKNOWN, Fault(at, f"its _meta has no {_ID}"))
    else:
        said = "no open subscriptions/listen request has this id"
        tell(SUBSCRIPTION_UNKNOWN, Fault(("params", "_meta", _ID), said))


def _stream(asked: Any) -> _Stream:
    asked = asked if isinstance(asked, dict) else {}
    wanted = frozenset(name for name in _FILTERS.values() if asked.get(name))
    uris = asked.get("resourceSubscriptions")
    return _Stream(wanted, frozenset(map(key_of, uris if isinstance(uris, list) else ())))


def _is_within(params: dict[str, Any], uris: frozenset[Key]) -> bool:
    """Return whether the resource at hand is one of *uris*, or a part of one.

    "This might be a sub-resource of the one that the client actually subscribed to"
    (ResourceUpdatedNotification): what goes on after the URI of that.
    """
    uri = params.get("uri")
    if key_of(uri) in uris:
        return True
    if not isinstance(uri, str):
        return False
    ends = (each.start() for each in islice(_BORDERS.finditer(uri), _MOST_BORDERS))
    return any(key_of(uri[:end]) in uris or key_of(uri[: end + 1]) in uris for end in ends)
