"""Client of the interface by which Envoy is asked for its state, on a unix socket of its own."""

import asyncio
import re
from pathlib import Path

from sidecheck_server.server.envoy.configuration import STAT_PREFIX

__all__ = ["EnvoyAdmin"]

_POLL_SECONDS = 0.02

_ACTIVE_REQUESTS = f"http.{STAT_PREFIX}.downstream_rq_active"
# The body may have the frames of a chunked transfer.
_ACTIVE_REQUESTS_VALUE = re.compile(rb"downstream_rq_active: (\d+)")


class EnvoyAdmin:
    """Asks the Envoy that listens on the unix socket *path*."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def is_live(self) -> bool:
        """Return whether Envoy accepts connections."""
        try:
            status, _ = await self._request("GET", "/ready")
        except OSError:
            return False
        return status == 200

    async def drain(self) -> None:
        """Tell clients to use another connection; the listeners stay open."""
        await self._request("POST", "/drain_listeners?graceful&skip_exit")

    async def wait_until_idle(self) -> None:
        """Wait until all responses are sent."""
        while await self._active_requests():  # noqa: ASYNC110  (of another process)
            await asyncio.sleep(_POLL_SECONDS)

    async def _active_requests(self) -> int:
        _, text = await self._request("GET", f"/stats?filter=^{_ACTIVE_REQUESTS}$")
        match = _ACTIVE_REQUESTS_VALUE.search(text)
        return 0 if match is None else int(match[1])

    async def _request(self, method: str, target: str) -> tuple[int, bytes]:
        """Return status and body of the response.

        Raises:
            OSError: Envoy does not listen, or closes the connection.
        """
        reader, writer = await asyncio.open_unix_connection(self._path)
        try:
            request = f"{method} {target} HTTP/1.1\r\nHost: envoy\r\nConnection: close\r\n"
            writer.write(f"{request}Content-Length: 0\r\n\r\n".encode())
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        fields = head.split(None, 2)
        if len(fields) < 2:
            raise ConnectionError
        return int(fields[1]), body
