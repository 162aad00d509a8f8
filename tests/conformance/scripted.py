"""A server whose responses the requests have: a case may bring about any of them.

The script is JSON in the first field of the type ``bytes`` of a request, with the key
``respond`` (the response, rendered as in `conformance.rendering`; an enumeration may be a number
that the API does not define) or ``fail`` (an error). Other requests are forwarded.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from sidecheck.wire.rpcs import RPCS
from support.raw_servers import Responder

from conformance.rendering import fill

__all__ = ["scripted"]

_DETAILS: Final = "grpc-status-details-bin"
_BY_PATH: Final = {rpc.path: rpc for rpc in RPCS}


def scripted(forward: Responder) -> Responder:
    """Return the server, which forwards requests without a script with *forward*."""

    async def respond(path: str, request: bytes, context: Any) -> list[bytes] | None:
        rpc = _BY_PATH[path]
        script = _script_of(rpc.request.FromString(request))
        if script is None:
            # Of a stream only the defaults have no script.
            return [] if rpc.many_requests else await forward(path, request, context)
        if "fail" in script:
            status = _status_of(script["fail"])
            trailers = ((_DETAILS, status.SerializeToString()),)
            await context.abort(_code_of(script["fail"]), status.message, trailers)
        response = rpc.response()
        fill(response, script["respond"])
        return [response.SerializeToString()]

    return respond


def _script_of(message: Message) -> dict[str, Any] | None:
    for text in _texts_of(message):
        try:
            script = json.loads(text)
        except ValueError:
            continue
        if isinstance(script, dict) and script.keys() & {"respond", "fail"}:
            return script
    return None


def _texts_of(message: Message) -> Iterator[bytes]:
    for field, value in message.ListFields():
        for element in value if field.is_repeated else [value]:
            if isinstance(element, Message):
                yield from _texts_of(element)
            elif isinstance(element, bytes):
                yield element


def _code_of(error: dict[str, Any]) -> grpc.StatusCode:
    return grpc.StatusCode[error["status"]]


def _status_of(error: dict[str, Any]) -> Status:
    status = Status(code=_code_of(error).value[0], message=error["message"])
    if "reason" in error:
        info = AnyMessage()
        info.Pack(ErrorInfo(reason=error["reason"], domain="sidecheck"))
        status.details.append(info)
    return status
