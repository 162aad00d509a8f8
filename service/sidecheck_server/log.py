"""Configuration of the log: how events are filtered and written."""

import io
import logging
import sys
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

from sidecheck_server.settings import Settings

__all__ = ["configure_log"]


def configure_log(settings: Settings) -> None:
    """Write events to standard error: readable on a terminal, as JSON elsewhere.

    Messages that libraries log with `logging` become events as well.
    """
    console = settings.log_format == "console" or (
        settings.log_format == "auto" and sys.stderr.isatty()
    )
    renderer: Any = (
        structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
    )
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    # Code on hot paths checks this level before it builds an event.
    logging.getLogger("sidecheck").setLevel(level)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", _LossyStream(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, handlers=[_LibraryHandler()], force=True)


class _LossyStream:
    """A stream that drops what cannot be written, so that a closed log fails no call.

    It bypasses the buffer of *stream*, which would keep what cannot be written and fail
    again when the process ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self._raw = io.FileIO(stream.fileno(), "w", closefd=False)

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._raw.write(text.encode("utf-8", "backslashreplace"))

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""


class _LibraryHandler(logging.Handler):
    """Turns log records of libraries into events.

    Only the first line of the message template is kept: arguments, exceptions and what
    asyncio reports about a task may contain parts of a request.
    """

    def emit(self, record: logging.LogRecord) -> None:
        error_type = record.exc_info[0] if record.exc_info else None
        structlog.get_logger().log(
            logging.ERROR if record.levelno >= logging.ERROR else logging.WARNING,
            "library.logged",
            logger=record.name,
            detail=str(record.msg).partition("\n")[0],
            error_type=error_type.__name__ if error_type else None,
        )
