"""Log lines of Envoy as events of the log.

Messages of Envoy may quote what a peer sent. Until it serves, no peer has sent anything, so that
messages are about its configuration, and are logged. Afterwards only the component and the line
of Envoy's source that identifies the message are.
"""

import asyncio
import logging
import os
from typing import Final

import structlog

__all__ = ["LOG_FORMAT", "EnvoyLog"]

LOG_FORMAT: Final = "%l\t%n\t%s:%#\t%v"
"""Level, component, line of the source and message (Envoy's option --log-format)."""

_FIELDS: Final = 4
_MAX_LINE_BYTES: Final = 16 << 10

_log = structlog.get_logger("sidecheck.server")


class EnvoyLog:
    """Reads the log of the Envoy of the process *number* from a pipe."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._read_end, self.write_end = os.pipe()
        self._reading: asyncio.Task[None] | None = None
        #: Whether peers can have sent anything.
        self.is_serving = False
        #: The last error before Envoy served, or "".
        self.fault = ""

    def start(self) -> None:
        """Log the lines until the pipe is closed, once Envoy has its end of it."""
        os.close(self.write_end)
        self._reading = asyncio.create_task(self._read())

    async def wait(self) -> None:
        """Wait for the last line, after the end of Envoy."""
        if self._reading is not None:
            await self._reading

    async def _read(self) -> None:
        reader = asyncio.StreamReader(limit=_MAX_LINE_BYTES)
        pipe = os.fdopen(self._read_end, "rb", buffering=0)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while True:
                try:
                    line = await reader.readline()
                except ValueError:
                    continue  # A line beyond the limit is dropped.
                if not line:
                    return
                self._log_line(line.decode(errors="replace").rstrip())
        finally:
            transport.close()

    def _log_line(self, line: str) -> None:
        fields = line.split("\t", _FIELDS - 1)
        if len(fields) < _FIELDS:
            return  # A further line of a message.
        level, component, source, message = fields
        is_error = level in {"error", "critical"}
        detail = {} if self.is_serving else {"detail": message}
        self.fault = message if detail and is_error else self.fault
        _log.log(
            logging.ERROR if is_error else logging.WARNING,
            "envoy.reported",
            number=self._number,
            component=component,
            source=source,
            **detail,
        )
