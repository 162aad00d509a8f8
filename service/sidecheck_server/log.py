"""Logging: the only place that knows how events are written."""

import io
import logging
import sys
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

from sidecheck_server.settings import Settings

__all__ = ["configure_log"]


def configure_log(settings: Settings) -> None:
    """Write events to standard error: for people on a terminal, as JSON elsewhere.

    What libraries log with `logging` becomes events too.
    """
    console = settings.log_format == "console" or (
        settings.log_format == "auto" and sys.stderr.isatty()
    )
    renderer: Any = (
        structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
    )
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    # What writes events may ask first whether they are wanted.
    logging.getLogger("sidecheck").setLevel(level)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", _Lossy(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, handlers=[_Libraries()], force=True)


class _Lossy:
    """A stream that drops what it cannot write: a log without a reader costs no answer.

    It writes past the buffers of *stream*, which would keep what cannot be written, and
    fail again when the process ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self._raw = io.FileIO(stream.fileno(), "w", closefd=False)

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._raw.write(text.encode("utf-8", "backslashreplace"))

    def flush(self) -> None:
        """Do nothing: nothing is kept."""


class _Libraries(logging.Handler):
    """Makes events of what libraries log.

    Of a message, only the first line of its template is taken: arguments, exceptions
    and what asyncio says of a task may hold parts of a request.
    """

    def emit(self, record: logging.LogRecord) -> None:
        failure = record.exc_info[0] if record.exc_info else None
        structlog.get_logger().log(
            logging.ERROR if record.levelno >= logging.ERROR else logging.WARNING,
            "library.logged",
            logger=record.name,
            said=str(record.msg).partition("\n")[0],
            error_type=failure.__name__ if failure else None,
        )
