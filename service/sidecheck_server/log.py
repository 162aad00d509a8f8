"""Logging: the only place that knows how events are written."""

import logging
import sys
from typing import Any

import structlog

from sidecheck_server.settings import Settings

__all__ = ["configure_log"]


def configure_log(settings: Settings) -> None:
    """Write events to standard error: for people on a terminal, as JSON elsewhere."""
    console = settings.log_format == "console" or (
        settings.log_format == "auto" and sys.stderr.isatty()
    )
    renderer: Any = (
        structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[settings.log_level.upper()]
        ),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
