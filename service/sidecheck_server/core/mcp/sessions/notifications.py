"""Rules on log messages and on progress."""

from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import LOG_LEVEL_KEY, read_metadata
from sidecheck_server.core.mcp.rules.features import LEVELS, LOG_BELOW_LEVEL, LOG_UNASKED
from sidecheck_server.core.mcp.rules.messages import CLIENT_RESPONSE
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    PROGRESS_NOT_RISING,
    PROGRESS_TOKEN_IN_USE,
    PROGRESS_TOKEN_UNKNOWN,
)
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["Logs", "Progress"]

_MAX_REQUESTS = 1000
_SET_LEVEL = "logging/setLevel"
_LOWEST = 0


class Logs:
    """Log levels: of the session, and since 2026-07-28 of open requests.

    Levels are indexes of `LEVELS`.
    """

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        #: Levels in the `_meta` of requests without a response.
        self._requested: BoundedStore[int] = BoundedStore(_MAX_REQUESTS, memory)
        #: Levels in logging/setLevel requests without a response.
        self._proposed: BoundedStore[int] = BoundedStore(_MAX_REQUESTS, memory)
        #: Level that the client set; the lowest if it set no level or an unknown one.
        self._session_level = _LOWEST

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store levels, and check log messages against them."""
        method = current.message.method
        match current.message.kind:
            case Kind.REQUEST if current.sender is Sender.CLIENT:
                self._open(current, method)
            case Kind.RESULT | Kind.ERROR if current.sender is Sender.SERVER:
                self._close(current)
            case Kind.NOTIFICATION if method == "notifications/message":
                level = current.params.get("level")
                if current.sender is Sender.SERVER and level in LEVELS:
                    self._check(current, LEVELS.index(level), report)

    def _open(self, current: SessionMessage, method: str) -> None:
        if method == _SET_LEVEL:
            self._proposed.put(current.key, _parse_level(current.params.get("level")))
        meta = read_metadata(current.params)
        # Subscriptions never have log messages, whatever their _meta contains.
        if LOG_LEVEL_KEY in meta and method != "subscriptions/listen":
            self._requested.put(current.key, _parse_level(meta[LOG_LEVEL_KEY]))

    def _close(self, current: SessionMessage) -> None:
        self._requested.pop(current.key)
        proposed = self._proposed.pop(current.key)
        if proposed is not None and current.message.kind is Kind.RESULT:
            self._session_level = proposed

    def _check(self, current: SessionMessage, level: int, report: Reporter) -> None:
        if not LOG_UNASKED.holds_in(current.version):
            if level < self._session_level:
                _report_below(level, self._session_level, "the client set", report)
            return
        if self._requested.has_evicted:
            return
        lowest = min(self._requested, default=None)
        if lowest is None:
            message = f"no open request has {LOG_LEVEL_KEY} in its _meta"
            report(LOG_UNASKED, Fault(("method",), message))
        elif level < lowest:
            _report_below(level, lowest, "open requests ask for", report)


def _parse_level(name: Any) -> int:
    """Return the level *name*, or the lowest if it is unknown."""
    return LEVELS.index(name) if isinstance(name, str) and name in LEVELS else _LOWEST


def _report_below(level: int, least: int, source: str, report: Reporter) -> None:
    message = (
        f'expected a level of at least "{LEVELS[least]}", which {source}; found "{LEVELS[level]}"'
    )
    report(LOG_BELOW_LEVEL, Fault(("params", "level"), message))


_MAX_TOKENS = 10_000
_INVALID: Key = ("invalid", "")
"""Key of all tokens that are neither strings nor integers. The schema reports these."""


@dataclass(slots=True)
class _Operation:
    #: Key of the request.
    request: Key
    last: float | None = None
    #: Whether the request was cancelled; earlier progress may still arrive.
    cancelled: bool = False
    #: Whether the request created a task; the token is in use until the task ends.
    is_task: bool = False


class Progress:
    """Progress tokens of the requests of each side."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        #: Operations by token, by the sender of their requests.
        self._operations: dict[Sender, BoundedStore[_Operation]] = {
            sender: BoundedStore(_MAX_TOKENS, memory) for sender in Sender
        }
        #: Tokens by request.
        self._tokens: dict[Sender, BoundedStore[Key]] = {
            sender: BoundedStore(_MAX_TOKENS, memory) for sender in Sender
        }

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store the token of a request, and check progress against it."""
        match current.message.kind:
            case Kind.REQUEST:
                self._begin(current, report)
            case Kind.RESULT | Kind.ERROR if current.request is not None:
                is_task = current.request.as_task and current.message.kind is Kind.RESULT
                if current.request.token is not None:
                    self._end(current.sender.peer, current, is_task=is_task)
            case Kind.ERROR if current.rejected is not None:
                self._cancel(Sender.CLIENT, current.rejected)
            case Kind.NOTIFICATION if current.message.method == "notifications/cancelled":
                self._cancel(current.sender, key_of(current.params.get("requestId")))
            case Kind.NOTIFICATION if current.message.method == "notifications/progress":
                self._advance(current, report)
            case Kind.NOTIFICATION if "_meta" in current.params:
                # A request without an id, which its receiver may execute nevertheless.
                self._begin(current, report)

    def _begin(self, current: SessionMessage, report: Reporter) -> None:
        meta = read_metadata(current.params)
        if "progressToken" not in meta:
            return
        operations, token = self._operations[current.sender], _make_token_key(meta["progressToken"])
        operation = operations.get(token) if token != _INVALID else None
        if operation is not None and not operation.cancelled and not operation.is_task:
            message = "a request with this progress token has no response yet"
            report(PROGRESS_TOKEN_IN_USE, Fault(("params", "_meta", "progressToken"), message))
        operations.put(token, _Operation(current.key))
        self._tokens[current.sender].put(current.key, token)

    def _end(self, requester: Sender, current: SessionMessage, *, is_task: bool) -> None:
        """Remove the token of the request, unless a task or a later request uses it."""
        token = self._tokens[requester].pop(current.key)
        operation = None if token is None else self._operations[requester].get(token)
        if token is not None and operation is not None and operation.request == current.key:
            if is_task:
                operation.is_task = True
            else:
                self._operations[requester].pop(token)

    def _cancel(self, requester: Sender, request: Key) -> None:
        """Allow reuse of the token: a cancelled request may never get a response."""
        token = self._tokens[requester].get(request)
        operation = None if token is None else self._operations[requester].get(token)
        if operation is not None and operation.request == request:
            operation.cancelled = True

    def _advance(self, current: SessionMessage, report: Reporter) -> None:
        # METHOD_WRONG_SENDER reports progress from clients in versions without server requests.
        is_wrong_sender = current.sender is Sender.CLIENT and CLIENT_RESPONSE.holds_in(
            current.version
        )
        if "progressToken" not in current.params or is_wrong_sender:
            return
        operations = self._operations[current.sender.peer]
        operation = operations.get(_make_token_key(current.params["progressToken"]))
        if operation is None:
            if not operations.has_evicted and _INVALID not in operations:
                message = "no open request has this progress token"
                report(PROGRESS_TOKEN_UNKNOWN, Fault(("params", "progressToken"), message))
            return
        if operation is operations.get(_INVALID):
            return
        value = current.params.get("progress")
        if not isinstance(value, int | float) or isinstance(value, bool):
            return
        if operation.last is not None and value <= operation.last:
            message = "the progress must be greater than in the previous notification"
            report(PROGRESS_NOT_RISING, Fault(("params", "progress"), message))
        else:
            operation.last = value


def _make_token_key(token: object) -> Key:
    if isinstance(token, str) or (isinstance(token, int) and not isinstance(token, bool)):
        return key_of(token)
    return key_of(token) if isinstance(token, float) and token.is_integer() else _INVALID
