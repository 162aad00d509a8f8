"""Pages of lists: cursors that the server gave, and pages that may be kept as widely."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    CURSOR_UNKNOWN,
    ELICITATION_ID_UNKNOWN,
    PAGE_CACHE_SCOPE,
    SUBSCRIPTION_NOT_ACKNOWLEDGED,
    SUBSCRIPTION_NOT_ASKED,
    SUBSCRIPTION_UNKNOWN,
)
from sidecheck_server.core.mcp.sessions.memory import BoundedStore, Key, Seen, Tell, key_of

__all__ = ["Elicitations", "Pages", "Subscriptions"]

_MOST = 10_000
_SCOPES = frozenset({"public", "private"})
_LISTS = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"}
)


class Pages:
    """The cursors that were given, and for each the scope of the page that gave it."""

    def __init__(self) -> None:
        self._given: BoundedStore[object] = BoundedStore(_MOST)
        #: For each request of a page that has no answer yet, the cursor that it sent.
        self._asked: BoundedStore[Key] = BoundedStore(_MOST)

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember a cursor that is given, and hold one that is used against those."""
        method = seen.message.method
        if method not in _LISTS:
            return
        if seen.message.kind is Kind.REQUEST:
            cursor = seen.params.get("cursor")
            if not isinstance(cursor, str):
                return
            key = _key(method, cursor)
            if key not in self._given and not self._given.forgot:
                said = f"the server gave no such cursor in an answer to {method}"
                tell(CURSOR_UNKNOWN, Fault(("params", "cursor"), said))
            self._asked.put(_sent(seen), key)
        elif seen.message.kind is Kind.RESULT:
            self._page(seen, method, tell)

    def _page(self, seen: Seen, method: str, tell: Tell) -> None:
        scope = seen.result.get("cacheScope")
        used = self._asked.pop(_sent(seen))
        before = None if used is None else self._given.get(used)
        if isinstance(before, str) and isinstance(scope, str) and scope != before:
            said = f"the page before this one has the cacheScope {before[:16]!r}"
            tell(PAGE_CACHE_SCOPE, Fault(("result", "cacheScope"), said))
        cursor = seen.result.get("nextCursor")
        if isinstance(cursor, str):
            # It may have any JSON form, also one that cannot be looked up in a set.
            kept = scope if isinstance(scope, str) and scope in _SCOPES else None
            self._given.put(_key(method, cursor), kept)


def _key(method: str, cursor: str) -> Key:
    return (method, key_of(cursor))


def _sent(seen: Seen) -> Key:
    return ("sent", seen.key)


_ELICITATIONS_MOST = 10_000
_MOST_IN_ONE = 100


class Elicitations:
    """The ids that elicitations began with."""

    def __init__(self) -> None:
        self._begun: BoundedStore[bool] = BoundedStore(_ELICITATIONS_MOST)

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


_SUBSCRIPTIONS_MOST = 100_000
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
        self._streams: BoundedStore[_Stream] = BoundedStore(_SUBSCRIPTIONS_MOST)

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
