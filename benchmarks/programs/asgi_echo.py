"""Bare ASGI application: the upper bound for a Python service in Envoy.

It answers every call with the bytes of the file that ECHO_RESPONSE names, without parsing,
validation or log.
"""

import os
from pathlib import Path
from typing import Any

__all__ = ["application"]

_HEADERS = [(b"content-type", b"application/grpc")]


def _framed() -> bytes:
    message = Path(os.environ["ECHO_RESPONSE"]).read_bytes()
    return b"\0" + len(message).to_bytes(4) + message


_BODY = _framed()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer one call."""
    if scope["type"] != "http":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        return
    while (await receive())["more_body"]:
        pass
    await send(
        {"type": "http.response.start", "status": 200, "headers": _HEADERS, "trailers": True}
    )
    await send({"type": "http.response.body", "body": _BODY})
    await send({"type": "http.response.trailers", "headers": [(b"grpc-status", b"0")]})
