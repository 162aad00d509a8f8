"""The page of log events, from one table; a test compares it with what the server logs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from docs.generate.markdown import NOTICE, code, table

__all__ = ["COMMON_FIELDS", "EVENTS", "Event", "logs_page"]


class Event(NamedTuple):
    """An event in the log."""

    name: str
    level: str
    meaning: str
    #: The fields that it may have beside those of every event, with what they hold.
    fields: Mapping[str, str]


COMMON_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "event": "the name of the event",
        "level": "debug, info, warning or error",
        "timestamp": "UTC, ISO 8601",
    }
)
"""The fields of every event."""

_CALL = {"method": "the RPC", "ms": "duration in milliseconds"}
_OUTCOME = {
    "outcome": "valid or invalid: one verdict",
    "violations": "number of violations in the verdict",
    "codes": "codes of the violations or diagnostics, sorted",
    "schema": "digest of the schema that the payload is invalid against",
    "enforced": "false if the tool is report-only",
    "tools": "number of tools",
    "names": "number of names",
    "items": "number of items of a batch or a stream",
    "invalid": "number of invalid ones among them",
    "refused": "number of items with an error, or of tools that were rejected",
    "disagreeing": "digests of schemas over which the engines disagree: a fault of the service",
    "strict": "number of tools that were converted to a strict form",
    "errors": "number of diagnostics that are errors",
    "removed": "number of tools that a replacing registration removed",
    "deleted": "number of tools that were deleted",
    "revision": "revision of the registry",
}

EVENTS: tuple[Event, ...] = (
    Event("server.ready", "info", "The server serves.", {"addresses": "where it listens"}),
    Event("server.draining", "info", "The server was told to stop.", {}),
    Event("server.stopped", "info", "The server has stopped.", {}),
    Event(
        "preload.registered",
        "info",
        "A file of tools was registered at the start.",
        {
            "server": "namespace that the settings name",
            "tools": "number of tools registered",
            "refused": "number of tools that were rejected",
        },
    ),
    Event(
        "preload.refused",
        "warning",
        "A tool of such a file was rejected.",
        {
            "server": "namespace that the settings name",
            "tool": "index of the tool in the file",
            "codes": "codes of its violations",
        },
    ),
    Event(
        "rpc.answered",
        "debug, info if something is invalid, error if the engines disagree",
        "A call succeeded.",
        {**_CALL, **_OUTCOME},
    ),
    Event(
        "rpc.streamed",
        "debug, info if an item is invalid or has an error, error if the engines disagree",
        "A stream ended.",
        {
            **_CALL,
            **{name: _OUTCOME[name] for name in ("items", "invalid", "refused", "disagreeing")},
        },
    ),
    Event("rpc.refused", "info", "A call failed.", {**_CALL, "reason": "the `ErrorReason`"}),
    Event(
        "rpc.failed",
        "error",
        "A call failed with `INTERNAL`: a fault of the service.",
        {
            "method": "the RPC",
            "error_id": "the id that the caller received",
            "error_type": "class of the exception; its text may contain a payload, and is not "
            "logged",
            "frames": "the last eight places in the code, as file and line",
            "said": "text of the exception, only if the registry failed",
        },
    ),
    Event(
        "library.logged",
        "warning or error",
        "A library logged something.",
        {
            "logger": "its logger",
            "said": "first line of the template of its message, without arguments",
            "error_type": "class of the exception, if any",
        },
    ),
)
"""Every event."""

_PAGE = """\
# Logs

{notice}
The server writes one event for each call to standard error: JSON, or colored text on a terminal
(`log_format`). `log_level` is info by default; valid calls are at debug.

No event contains payload values, source text, messages, locations or names from a request. Names
of namespaces occur only where the settings name them.

## Every event

{common}
{events}"""


def logs_page() -> str:
    """Return the page."""
    return _PAGE.format(
        notice=NOTICE,
        common=_fields(COMMON_FIELDS),
        events="\n".join(
            f"## {event.name}\n\n{event.meaning} Level: {event.level}.\n"
            + (f"\n{_fields(event.fields)}" if event.fields else "")
            for event in EVENTS
        ),
    )


def _fields(fields: Mapping[str, str]) -> str:
    return table(("Field", "Contents"), ((code(name), fields[name]) for name in fields))
