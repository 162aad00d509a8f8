"""Rules on subscriptions to notifications and, until 2025-11-25, to resources."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import SUBSCRIPTION_ID_KEY, read_metadata
from sidecheck_server.core.mcp.rules.features import (
    RESOURCE_NOT_SUBSCRIBED,
    SUBSCRIPTION_ACKNOWLEDGED_UNASKED,
    SUBSCRIPTION_NOT_ACKNOWLEDGED,
    SUBSCRIPTION_NOT_ASKED,
    SUBSCRIPTION_UNKNOWN,
)
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["ResourceSubscriptions", "Subscriptions"]

_MAX_BYTES = 4 << 20
"""Total weight of the open subscriptions."""

_URI_BYTES = 320
"""Weight of a stored resource: its key, with characters of up to four bytes."""

_MAX_SUBSCRIPTIONS = 100_000
_MAX_REQUESTS = 10_000
_RESOURCES = "resourceSubscriptions"
_FILTERS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/resources/updated": _RESOURCES,
}
_URI_DELIMITERS = re.compile("[/?#]")
_MAX_PREFIXES = 64
"""Number of prefixes of a URI that are looked up among the subscribed resources."""

_MAX_URIS = 1000
"""Largest number of URIs of a stored subscription; a larger one may include any resource."""

_MAX_URI_CHARACTERS = 100_000
"""Largest total length of the URIs of a stored subscription; an escape takes 200 ns."""

_MAX_PREFIXED = 2000
"""Longest URI whose prefixes are looked up; a longer one may be in any subscription."""

_MAX_UNKNOWN = 20
"""Number of acknowledged resources outside the request whose prefixes are looked up."""

_MAX_NORMALIZED = 500
"""Longest URI that is normalized, in characters."""

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LOG_MESSAGE = "notifications/message"


@dataclass(slots=True)
class _Stream:
    filters: frozenset[str]
    #: Keys of the resources, or None if there are too many.
    uris: frozenset[Key] | None
    acknowledged: bool = False

    def includes(self, uri: Any) -> bool:
        """Return whether the subscription may include the resource *uri*."""
        # The schema reports a URI that is not a string.
        return self.uris is None or not isinstance(uri, str) or _is_subscribed(uri, self.uris)


class Subscriptions:
    """Open subscriptions by the id of their request (since 2026-07-28)."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        self._streams: BoundedStore[_Stream] = BoundedStore(_MAX_BYTES, memory)
        #: Number of acknowledgments without an open subscription.
        self._stray_acknowledgments = 0

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store subscriptions, and check notifications against them."""
        if not SUBSCRIPTION_UNKNOWN.holds_in(current.version):
            return
        method = current.message.method
        match current.message.kind:
            case Kind.REQUEST if method == "subscriptions/listen":
                stream = _read_stream(current.params.get("notifications"))
                if (earlier := self._streams.get(current.key)) is not None:
                    # A message with this id may belong to either request.
                    stream = _Stream(stream.filters | earlier.filters, None, earlier.acknowledged)
                self._streams.put(current.key, stream, _URI_BYTES * (1 + len(stream.uris or ())))
            case Kind.RESULT | Kind.ERROR if method == "subscriptions/listen":
                ended = self._streams.pop(current.key)
                if ended is not None and current.message.kind is Kind.RESULT:
                    _check_end(current, ended, report)
            case Kind.NOTIFICATION if method == "notifications/cancelled":
                # After the client cancels, earlier notifications may still arrive.
                if current.sender is Sender.SERVER:
                    self._streams.pop(key_of(current.params.get("requestId")))
            case Kind.NOTIFICATION if current.sender is Sender.SERVER:
                id_ = _get_subscription_id(current.params)
                # Extensions define further notifications on subscriptions. LOG_ON_SUBSCRIPTION
                # reports log messages.
                is_message = method == _ACKNOWLEDGED or method in _FILTERS or id_ is not None
                if is_message and method != _LOG_MESSAGE:
                    self._check_notification(current, method, id_, report)

    def _check_notification(
        self, current: SessionMessage, method: str, id_: Any, report: Reporter
    ) -> None:
        stream = self._streams.get(key_of(id_))
        params = current.message.value.get("params", {})
        if not isinstance(params, dict):
            return
        if stream is None:
            self._stray_acknowledgments += method == _ACKNOWLEDGED
            if not self._streams.has_evicted:
                _report_unknown_subscription(current.params, id_, report)
        elif method == _ACKNOWLEDGED:
            stream.acknowledged = True
            _check_acknowledged(current.params.get("notifications"), stream, report)
        else:
            if not stream.acknowledged:
                stream.acknowledged = True
                self._report_unacknowledged(report)
            name = _FILTERS.get(method)
            if name is None:
                return
            if name not in stream.filters:
                message = f"the subscription does not include {name}"
                report(SUBSCRIPTION_NOT_ASKED, Fault(("method",), message))
            elif name == _RESOURCES and not stream.includes(current.params.get("uri")):
                message = "the subscription does not include this resource"
                report(SUBSCRIPTION_NOT_ASKED, Fault(("params", "uri"), message))

    def _report_unacknowledged(self, report: Reporter) -> None:
        """Report a missing acknowledgment, unless a stray one may be it."""
        if self._stray_acknowledgments:
            self._stray_acknowledgments -= 1
        else:
            message = f"{_ACKNOWLEDGED} was not sent before"
            report(SUBSCRIPTION_NOT_ACKNOWLEDGED, Fault(("method",), message))


def _check_end(current: SessionMessage, stream: _Stream, report: Reporter) -> None:
    """Check the result that ends a subscription."""
    id_ = _get_subscription_id(current.result)
    if id_ is None:
        return
    path = ("result", "_meta", SUBSCRIPTION_ID_KEY)
    if key_of(id_) != current.key:
        message = "expected the id of the response, which is that of the subscription"
        report(SUBSCRIPTION_UNKNOWN, Fault(path, message))
    elif not stream.acknowledged:
        report(SUBSCRIPTION_NOT_ACKNOWLEDGED, Fault(path, f"{_ACKNOWLEDGED} was not sent before"))


def _get_subscription_id(fields: dict[str, Any]) -> Any:
    """Return the id of a subscription in the `_meta` of *fields*, or None."""
    return read_metadata(fields).get(SUBSCRIPTION_ID_KEY)


def _report_unknown_subscription(params: dict[str, Any], id_: Any, report: Reporter) -> None:
    if id_ is None:
        path: tuple[str, ...] = ("params",) if params else ()
        report(SUBSCRIPTION_UNKNOWN, Fault(path, f"missing {SUBSCRIPTION_ID_KEY} in _meta"))
    else:
        path = ("params", "_meta", SUBSCRIPTION_ID_KEY)
        message = "no open subscriptions/listen request has this id"
        report(SUBSCRIPTION_UNKNOWN, Fault(path, message))


def _check_acknowledged(acknowledged: Any, stream: _Stream, report: Reporter) -> None:
    """Check that the server acknowledged only notifications that *stream* includes."""
    path = ("params", "notifications")
    for name in sorted(_read_filters(acknowledged) - stream.filters):
        message = f"the subscription does not include {name}"
        report(SUBSCRIPTION_ACKNOWLEDGED_UNASKED, Fault((*path, name), message))
    if _RESOURCES not in stream.filters or stream.uris is None:
        return
    uris = _read_uris(acknowledged)
    if not _are_few(uris):
        return
    unknown_uris = (
        (index, uri)
        for index, uri in enumerate(uris)
        if isinstance(uri, str) and _make_uri_key(uri) not in stream.uris
    )
    for index, uri in islice(unknown_uris, _MAX_UNKNOWN):
        if not stream.includes(uri):
            message = "the subscription does not include this resource"
            report(SUBSCRIPTION_ACKNOWLEDGED_UNASKED, Fault((*path, _RESOURCES, index), message))


def _read_stream(filter_: Any) -> _Stream:
    if not isinstance(filter_, dict):
        # The schema reports it; the server may have subscribed the client to anything.
        return _Stream(frozenset(_FILTERS.values()), None)
    uris = _read_uris(filter_)
    is_known = isinstance(filter_.get(_RESOURCES, []), list) and _are_few(uris)
    return _Stream(
        _read_filters(filter_), frozenset(map(_make_uri_key, uris)) if is_known else None
    )


def _are_few(uris: list[Any]) -> bool:
    """Return whether *uris* are few and short enough to be read."""
    return len(uris) <= _MAX_URIS and (
        sum(len(uri) for uri in uris if isinstance(uri, str)) <= _MAX_URI_CHARACTERS
    )


def _read_filters(filter_: Any) -> frozenset[str]:
    """Return the notifications that a filter includes."""
    filter_ = filter_ if isinstance(filter_, dict) else {}
    return frozenset(name for name in _FILTERS.values() if filter_.get(name))


def _read_uris(filter_: Any) -> list[Any]:
    """Return the URIs in a filter."""
    uris = filter_.get(_RESOURCES) if isinstance(filter_, dict) else None
    return uris if isinstance(uris, list) else []


class ResourceSubscriptions:
    """Resources that the client subscribed to individually (until 2025-11-25)."""

    methods: frozenset[str] | None = frozenset(
        {"resources/subscribe", "resources/unsubscribe", "notifications/resources/updated"}
    )

    def __init__(self, memory: SessionMemory) -> None:
        #: Number of the last request to subscribe, by resource.
        self._resources: BoundedStore[int] = BoundedStore(_MAX_SUBSCRIPTIONS, memory)
        #: Resource of each request to unsubscribe without a response, with the number of the
        #: subscription that it ends.
        self._ending: BoundedStore[tuple[Key, int | None]] = BoundedStore(_MAX_REQUESTS, memory)
        #: Whether a request to subscribe had no readable URI and may mean any resource.
        self._may_include_any = False
        self._count = 0

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store subscriptions, and check updates against them."""
        if not RESOURCE_NOT_SUBSCRIBED.holds_in(current.version):
            return
        uri = current.params.get("uri")
        match (current.message.method, current.message.kind):
            case ("resources/subscribe", Kind.REQUEST):
                # Updates may precede the response, and follow an error response.
                self._count += 1
                self._resources.put(_make_uri_key(uri), self._count)
                self._may_include_any = self._may_include_any or not isinstance(uri, str)
            case ("resources/unsubscribe", Kind.REQUEST):
                key = _make_uri_key(uri)
                self._ending.put(current.key, (key, self._resources.get(key)))
            case ("resources/unsubscribe", Kind.RESULT | Kind.ERROR):
                self._end(current)
            case ("notifications/resources/updated", Kind.NOTIFICATION):
                if current.sender is Sender.SERVER and isinstance(uri, str):
                    self._check_update(uri, report)

    def _check_update(self, uri: str, report: Reporter) -> None:
        if self._may_include_any or self._resources.has_evicted:
            return
        if not _is_subscribed(uri, self._resources):
            message = "the client is not subscribed to this resource"
            report(RESOURCE_NOT_SUBSCRIBED, Fault(("params", "uri"), message))

    def _end(self, current: SessionMessage) -> None:
        """Remove a subscription, unless the client has subscribed again since."""
        ending = self._ending.pop(current.key)
        if ending is not None and current.message.kind is Kind.RESULT:
            key, number = ending
            if self._resources.get(key) == number:
                self._resources.pop(key)


def _is_subscribed(uri: Any, subscribed: frozenset[Key] | BoundedStore[int]) -> bool:
    """Return whether *subscribed* has the resource *uri* or a parent of it.

    "This might be a sub-resource of the one that the client actually subscribed to"
    (ResourceUpdatedNotification); its URI starts with the subscribed one.
    """
    if _make_uri_key(uri) in subscribed:
        return True
    if not isinstance(uri, str):
        return False
    if len(uri) > _MAX_PREFIXED:
        return True
    ends = (match.start() for match in islice(_URI_DELIMITERS.finditer(uri), _MAX_PREFIXES))
    return any(_make_uri_key(uri[:end]) in subscribed for end in ends)


def _make_uri_key(uri: Any) -> Key:
    """Return the key for *uri*; texts that may be equivalent have the same key.

    A peer that normalizes URIs may change the case of the host, escapes and a final slash
    (RFC 3986, section 6.2.2).
    """
    if isinstance(uri, str) and len(uri) <= _MAX_NORMALIZED:
        uri = unquote(uri).rstrip("/").casefold()
    return key_of(uri)
