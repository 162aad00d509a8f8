"""Log of a proxy, whose events are configured when the first one occurs.

Most proxies log no event, and structlog takes longer to import than the relay.
"""

import logging

from sidecheck_server.observability.log_output import open_log_output

__all__ = ["DeferredLog"]


class DeferredLog:
    """Writer of lines to standard error, among which events are written."""

    def __init__(self, log_format: str, log_level: str) -> None:
        self._format = log_format
        self._level = log_level
        self._is_configured = False
        self.output = open_log_output(self._report_dropped)
        logging.basicConfig(level=logging.WARNING, handlers=[_Handler(self)], force=True)

    def configure(self) -> None:
        """Configure events, unless they are configured; call this before each event."""
        if not self._is_configured:
            from sidecheck_server.observability.log import configure_events  # noqa: PLC0415

            configure_events(self.output, self._format, self._level)
            self._is_configured = True

    def _report_dropped(self, lines: int) -> None:
        self.configure()
        from sidecheck_server.observability.log import report_dropped  # noqa: PLC0415

        report_dropped(lines)


class _Handler(logging.Handler):
    """Handles the first record of a library: configures events, which replaces the handler."""

    def __init__(self, log: DeferredLog) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.configure()
        logging.getLogger().handle(record)
