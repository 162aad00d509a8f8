"""Configuration of the log: filtering, formatting and writing of events."""

import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog
from structlog.typing import EventDict, Processor

from sidecheck_server.access.identity import IDENTITY
from sidecheck_server.observability.log_output import open_log_output
from sidecheck_server.observability.log_writer import LogWriter
from sidecheck_server.observability.tracing.variables import exporter_names

if TYPE_CHECKING:
    # A proxy configures events without the settings of a server.
    from sidecheck_server.config.settings import Settings

__all__ = ["configure_events", "configure_log", "report_dropped"]

_CALL_EVENT_PREFIXES = ("rpc.", "gateway.")


def configure_log(settings: "Settings", process: int | None = None) -> LogWriter:
    """Write events to standard error: readable on a terminal, as JSON elsewhere.

    Records that libraries log with `logging` become events as well. Neither logging nor direct
    writes to descriptor 2 wait for the reader of the log. The queue of the returned writer is
    flushed when the process exits. With several processes, events have the number of the
    *process*.
    """
    writer = open_log_output(report_dropped)
    configure_events(writer, settings.log_format, settings.log_level, process)
    return writer


def configure_events(
    writer: LogWriter, log_format: str, log_level: str, process: int | None = None
) -> None:
    """Write events of *log_level* and above to *writer*; see `configure_log`."""
    console = log_format == "console" or (log_format == "auto" and os.isatty(2))
    renderer: Any = (
        structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
    )
    level = logging.getLevelNamesMapping()[log_level.upper()]
    # Code on hot paths checks this level before it builds an event.
    logging.getLogger("sidecheck").setLevel(level)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_token,
            *([] if process is None else [partial(_add_process, process)]),
            *_tracing_processors(),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _LineLogger(writer),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, handlers=[_LibraryHandler()], force=True)


def _add_token(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Add the operator's name for the caller's token to an event of a call."""
    identity = IDENTITY.get()
    # Shared work that a call has started, such as a worker task, has the context of the call.
    if identity is not None and event["event"].startswith(_CALL_EVENT_PREFIXES):
        event["token"] = identity.name
    return event


def _add_process(process: int, _logger: Any, _method: str, event: EventDict) -> EventDict:
    """Add the number of the process to an event."""
    event["process"] = process
    return event


def _tracing_processors() -> list[Processor]:
    """Return the processor that adds spans to events, if tracing is on."""
    if not exporter_names():
        return []
    from sidecheck_server.observability.tracing.spans import add_span  # noqa: PLC0415

    return [add_span]


def report_dropped(lines: int) -> None:
    """Log that *lines* of the log were dropped."""
    structlog.get_logger().warning("log.dropped", lines=lines)


class _LineLogger:
    """Logger in the interface of structlog, which passes rendered events to a writer."""

    def __init__(self, writer: LogWriter) -> None:
        self._writer = writer

    def msg(self, line: str) -> None:
        """Queue *line*."""
        self._writer.write(f"{line}\n")

    debug = info = warning = error = msg


#: Message that gRPC logs when a peer disconnects before the response. It is not a stable
#: interface: if it changes, each such call is logged.
_PEER_DISCONNECTED = "ExecuteBatchError raised in core by servicer method"


class _LibraryHandler(logging.Handler):
    """Converts log records of libraries to events.

    Only the first line of the message template is kept: arguments, exceptions and asyncio's
    reports about tasks may contain parts of a request. The error that gRPC logs when a peer
    disconnects before the response is dropped, because overloaded servers have thousands of
    such calls.
    """

    # Decision 0009: the log never contains text from a request.

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg).startswith(_PEER_DISCONNECTED):
            return
        error_type = record.exc_info[0] if record.exc_info else None
        structlog.get_logger().log(
            logging.ERROR if record.levelno >= logging.ERROR else logging.WARNING,
            "library.logged",
            logger=record.name,
            detail=str(record.msg).partition("\n")[0],
            error_type=error_type.__name__ if error_type else None,
        )
