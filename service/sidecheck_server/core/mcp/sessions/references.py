"""Rules on references to earlier messages: cursors, subscription ids, elicitation ids."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    CURSOR_UNKNOWN,
    CURSOR_UNSEEN,
    ELICITATION_ID_UNKNOWN,
    PAGE_CACHE_SCOPE,
    SUBSCRIPTION_NOT_ACKNOWLEDGED,
    SUBSCRIPTION_NOT_ASKED,
    SUBSCRIPTION_UNKNOWN,
)
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["Elicitations", "Pages", "Subscriptions"]

_MAX_CURSORS = 10_000
_CACHE_SCOPES = frozenset({"public", "private"})
_LIST_METHODS = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"}
)


class Pages:
    """Cursors that the server issued, with the cache scopes of their pages."""

    def __init__(self, memory: SessionMemory) -> None:
        self._issued: BoundedStore[object] = BoundedStore(_MAX_CURSORS, memory)
        #: Cursors of requests without a response.
        self._requested: BoundedStore[Key] = BoundedStore(_MAX_CURSORS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store the cursor of a result, and check that of a request."""
        method = current.message.method
        if method not in _LIST_METHODS:
            return
        if current.message.kind is Kind.REQUEST:
            cursor = current.params.get("cursor")
            if not isinstance(cursor, str):
                return
            key = _cursor_key(method, cursor)
            if key not in self._issued and not self._issued.forgot:
                message = f"unknown cursor: no result of {method} in this session has it"
                # Each version has one of them; the other is not reported.
                for rule in (CURSOR_UNKNOWN, CURSOR_UNSEEN):
                    report(rule, Fault(("params", "cursor"), message))
            self._requested.put(_request_key(current), key)
        elif current.message.kind is Kind.RESULT:
            self._check_page(current, method, report)

    def _check_page(self, current: SessionMessage, method: str, report: Reporter) -> None:
        scope = current.result.get("cacheScope")
        key = self._requested.pop(_request_key(current))
        previous = None if key is None else self._issued.get(key)
        if isinstance(previous, str) and isinstance(scope, str) and scope != previous:
            message = f"expected the cacheScope of the previous page, {previous[:16]!r}"
            report(PAGE_CACHE_SCOPE, Fault(("result", "cacheScope"), message))
        cursor = current.result.get("nextCursor")
        if isinstance(cursor, str):
            # The scope may be any JSON value, also one that is not hashable.
            known = scope if isinstance(scope, str) and scope in _CACHE_SCOPES else None
            self._issued.put(_cursor_key(method, cursor), known)


def _cursor_key(method: str, cursor: str) -> Key:
    return (method, key_of(cursor))


def _request_key(current: SessionMessage) -> Key:
    return ("request", current.key)


_MAX_SUBSCRIPTIONS = 100_000
_FILTERS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/resources/updated": "resourceSubscriptions",
}
_URI_DELIMITERS = re.compile("[/?#]")
_MAX_PREFIXES = 64
"""Number of prefixes of a URI that are looked up among the subscribed resources."""

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"


@dataclass(slots=True)
class _Stream:
    filters: frozenset[str]
    uris: frozenset[Key]
    acknowledged: bool = False


class Subscriptions:
    """Open subscriptions by the id of their request (since 2026-07-28)."""

    def __init__(self, memory: SessionMemory) -> None:
        self._streams: BoundedStore[_Stream] = BoundedStore(_MAX_SUBSCRIPTIONS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store subscriptions, and check notifications against them."""
        if not SUBSCRIPTION_UNKNOWN.holds_in(current.version):
            return
        method = current.message.method
        match current.message.kind:
            case Kind.REQUEST if method == "subscriptions/listen":
                stream = _stream(current.params.get("notifications"))
                self._streams.put(current.key, stream, 1 + len(stream.uris))
            case Kind.RESULT | Kind.ERROR if method == "subscriptions/listen":
                self._streams.pop(current.key)
            case Kind.NOTIFICATION if method == "notifications/cancelled":
                # After the client cancels, notifications sent before may still arrive.
                if current.sender is Sender.SERVER:
                    self._streams.pop(key_of(current.params.get("requestId")))
            case Kind.NOTIFICATION if method == _ACKNOWLEDGED or method in _FILTERS:
                if current.sender is Sender.SERVER:
                    self._check_notification(current, method, report)

    def _check_notification(self, current: SessionMessage, method: str, report: Reporter) -> None:
        meta = current.params.get("_meta")
        id_ = meta.get(_SUBSCRIPTION_ID) if isinstance(meta, dict) else None
        stream = self._streams.get(key_of(id_))
        if stream is None:
            if not self._streams.forgot:
                _report_unknown_subscription(current.params, id_, report)
        elif method == _ACKNOWLEDGED:
            stream.acknowledged = True
        else:
            if not stream.acknowledged:
                stream.acknowledged = True
                message = f"{_ACKNOWLEDGED} was not sent before"
                report(SUBSCRIPTION_NOT_ACKNOWLEDGED, Fault(("method",), message))
            name = _FILTERS[method]
            if name not in stream.filters:
                message = f"the subscription does not include {name}"
                report(SUBSCRIPTION_NOT_ASKED, Fault(("method",), message))
            elif name == "resourceSubscriptions" and not _is_subscribed(
                current.params, stream.uris
            ):
                message = "the subscription does not include this resource"
                report(SUBSCRIPTION_NOT_ASKED, Fault(("params", "uri"), message))


def _report_unknown_subscription(params: dict[str, Any], id_: Any, report: Reporter) -> None:
    if id_ is None:
        path: tuple[str, ...] = ("params",) if params else ()
        report(SUBSCRIPTION_UNKNOWN, Fault(path, f"missing {_SUBSCRIPTION_ID} in _meta"))
    else:
        path = ("params", "_meta", _SUBSCRIPTION_ID)
        message = "no open subscriptions/listen request has this id"
        report(SUBSCRIPTION_UNKNOWN, Fault(path, message))


def _stream(requested: Any) -> _Stream:
    requested = requested if isinstance(requested, dict) else {}
    filters = frozenset(name for name in _FILTERS.values() if requested.get(name))
    uris = requested.get("resourceSubscriptions")
    return _Stream(filters, frozenset(map(key_of, uris if isinstance(uris, list) else ())))


def _is_subscribed(params: dict[str, Any], uris: frozenset[Key]) -> bool:
    """Return whether the resource of *params* is one of *uris* or a sub-resource of one.

    "This might be a sub-resource of the one that the client actually subscribed to"
    (ResourceUpdatedNotification); its URI starts with the subscribed one.
    """
    uri = params.get("uri")
    if key_of(uri) in uris:
        return True
    if not isinstance(uri, str):
        return False
    ends = (match.start() for match in islice(_URI_DELIMITERS.finditer(uri), _MAX_PREFIXES))
    return any(key_of(uri[:end]) in uris or key_of(uri[: end + 1]) in uris for end in ends)


_MAX_ELICITATIONS = 10_000
_MAX_ELICITATIONS_OF_ERROR = 100


class Elicitations:
    """Ids of elicitations by URL, which are completed by a notification (2025-11-25)."""

    def __init__(self, memory: SessionMemory) -> None:
        self._started: BoundedStore[bool] = BoundedStore(_MAX_ELICITATIONS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store the id of an elicitation, and check that of its completion."""
        if not ELICITATION_ID_UNKNOWN.holds_in(current.version):
            return
        method = current.message.method
        match current.message.kind:
            case Kind.REQUEST if method == "elicitation/create":
                self._start(current.params)
            case Kind.ERROR:
                for elicitation in _required_elicitations(current.message.value):
                    self._start(elicitation)
            case Kind.NOTIFICATION if method == "notifications/elicitation/complete":
                id_ = current.params.get("elicitationId")
                unknown = isinstance(id_, str) and key_of(id_) not in self._started
                if unknown and not self._started.forgot:
                    message = "no elicitation of this session has this id"
                    report(ELICITATION_ID_UNKNOWN, Fault(("params", "elicitationId"), message))

    def _start(self, elicitation: Any) -> None:
        id_ = elicitation.get("elicitationId") if isinstance(elicitation, dict) else None
        if isinstance(id_, str):
            self._started.put(key_of(id_), value=True)


def _required_elicitations(response: Any) -> Iterator[Any]:
    """Yield the elicitations of a URLElicitationRequiredError."""
    error = response.get("error") if isinstance(response, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    elicitations = data.get("elicitations") if isinstance(data, dict) else None
    if isinstance(elicitations, list):
        yield from elicitations[:_MAX_ELICITATIONS_OF_ERROR]
