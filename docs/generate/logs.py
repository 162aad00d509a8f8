"""The page of log events, from the table of events of the server."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.observability.log_events import EVENTS, LogEvent

from docs.generate.markdown import NOTICE, code, table

__all__ = ["COMMON_FIELDS", "logs_page"]

COMMON_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "event": "the name of the event",
        "level": "debug, info, warning or error",
        "timestamp": "the time in UTC, ISO 8601",
        "token": "the name of the caller's token, in the events of calls that need one",
    }
)
"""The fields of every event; `token` only occurs in events of some calls."""

_PAGE = """\
# Logs

{notice}
The server writes one event for each call to standard error: JSON, or colored text on a terminal
(`log_format`). `log_level` is info by default; valid calls are at debug.

No event contains payload values, source text, messages, locations or names from a request. The name
of a namespace occurs only if it is in the settings.

## Every event

{common}
{events}"""


def logs_page() -> str:
    """Return the page."""
    return _PAGE.format(
        notice=NOTICE,
        common=_field_table(COMMON_FIELDS),
        events="\n".join(map(_section, EVENTS.values())),
    )


def _section(event: LogEvent) -> str:
    """Return the section of the page about *event*."""
    parts = [f"## {event.name}\n", f"{event.meaning} Level: {', '.join(event.levels)}.\n"]
    if event.fields:
        parts.append(_field_table(event.fields))
    if event.optional_fields:
        parts.append("Some of these events also have:\n")
        parts.append(_field_table(event.optional_fields))
    return "\n".join(parts)


def _field_table(fields: Mapping[str, str]) -> str:
    return table(("Field", "Contents"), ((code(name), fields[name]) for name in fields))
