"""Log messages against the levels that the client set or asked for."""

from typing import Any

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import LOG_LEVEL_KEY, read_metadata
from sidecheck_server.core.mcp.rules.features import LEVELS, LOG_BELOW_LEVEL, LOG_UNASKED
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Reporter,
    SessionMemory,
    SessionMessage,
)

__all__ = ["Logs"]

_MAX_REQUESTS = 1000
_SET_LEVEL = "logging/setLevel"
_LOWEST = 0


class Logs:
    """The level of the session, and since 2026-07-28 those of open requests.

    Levels are numbers: places in `LEVELS`.
    """

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        #: Levels that requests without a response ask for.
        self._requested: BoundedStore[int] = BoundedStore(_MAX_REQUESTS, memory)
        #: Levels that the client sets in requests without a response.
        self._proposed: BoundedStore[int] = BoundedStore(_MAX_REQUESTS, memory)
        #: Level that the client set: the lowest if it set none, or one that is unknown.
        self._set = _LOWEST

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
            self._proposed.put(current.key, _level(current.params.get("level")))
        meta = read_metadata(current.params)
        # Subscriptions never have log messages, whatever they ask for.
        if LOG_LEVEL_KEY in meta and method != "subscriptions/listen":
            self._requested.put(current.key, _level(meta[LOG_LEVEL_KEY]))

    def _close(self, current: SessionMessage) -> None:
        self._requested.pop(current.key)
        proposed = self._proposed.pop(current.key)
        if proposed is not None and current.message.kind is Kind.RESULT:
            self._set = proposed

    def _check(self, current: SessionMessage, level: int, report: Reporter) -> None:
        if not LOG_UNASKED.holds_in(current.version):
            if level < self._set:
                _report_below(level, self._set, "the client set", report)
            return
        if self._requested.forgot:
            return
        lowest = min(self._requested, default=None)
        if lowest is None:
            message = f"no open request has {LOG_LEVEL_KEY} in its _meta"
            report(LOG_UNASKED, Fault(("method",), message))
        elif level < lowest:
            _report_below(level, lowest, "open requests ask for", report)


def _level(name: Any) -> int:
    """Return the level *name*, or the lowest if it is unknown."""
    return LEVELS.index(name) if isinstance(name, str) and name in LEVELS else _LOWEST


def _report_below(level: int, least: int, source: str, report: Reporter) -> None:
    message = (
        f'expected a level of at least "{LEVELS[least]}", which {source}; found "{LEVELS[level]}"'
    )
    report(LOG_BELOW_LEVEL, Fault(("params", "level"), message))
