"""Rules on references to earlier messages: cursors and elicitation ids."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    CURSOR_UNKNOWN,
    CURSOR_UNSEEN,
    ELICITATION_ID_UNKNOWN,
    PAGE_CACHE_SCOPE,
)
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["Elicitations", "Pages"]

_MAX_CURSORS = 10_000
_CACHE_SCOPES = frozenset({"public", "private"})
_LIST_METHODS = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"}
)


class Pages:
    """Cursors that the server issued, with the cache scopes of their pages."""

    methods: frozenset[str] | None = _LIST_METHODS

    def __init__(self, memory: SessionMemory) -> None:
        self._issued: BoundedStore[object] = BoundedStore(_MAX_CURSORS, memory)
        #: Cursors of requests without a response.
        self._requested: BoundedStore[Key] = BoundedStore(_MAX_CURSORS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store the cursor of a result, and check that of a request."""
        method = current.message.method
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


_MAX_ELICITATIONS = 10_000
_NO_ID = key_of(None)
"""Key of elicitations without an id, which the schema reports."""
_MAX_ELICITATIONS_OF_ERROR = 100


class Elicitations:
    """Ids of elicitations by URL, which are completed by a notification (2025-11-25)."""

    methods: frozenset[str] | None = None

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
                unknown = (
                    isinstance(id_, str)
                    and key_of(id_) not in self._started
                    and _NO_ID not in self._started
                )
                if unknown and not self._started.forgot:
                    message = "no elicitation of this session has this id"
                    report(ELICITATION_ID_UNKNOWN, Fault(("params", "elicitationId"), message))

    def _start(self, elicitation: Any) -> None:
        if not isinstance(elicitation, dict):
            return
        id_ = elicitation.get("elicitationId")
        if isinstance(id_, str):
            self._started.put(key_of(id_), value=True)
        elif "url" in elicitation:
            self._started.put(_NO_ID, value=True)


def _required_elicitations(response: Any) -> Iterator[Any]:
    """Yield the elicitations of a URLElicitationRequiredError."""
    error = response.get("error") if isinstance(response, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    elicitations = data.get("elicitations") if isinstance(data, dict) else None
    if isinstance(elicitations, list):
        yield from elicitations[:_MAX_ELICITATIONS_OF_ERROR]
