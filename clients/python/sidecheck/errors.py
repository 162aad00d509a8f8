"""Errors of the client: exceptions raised in place of a result.

::

    Exception
    ├── SidecheckError             no result was possible; ``reason`` is the error reason
    │   ├── ToolsRejected          raised by `Client.register`; ``registration`` has the outcomes
    │   ├── Unavailable            no server answered: lost, overloaded, or not Sidecheck
    │   │   └── StreamUnavailable  the server of a stream was lost; also a StreamClosed
    │   ├── InvalidResponse        the response of a server does not conform to the API
    │   └── StreamClosed           a stream ended early; ``unanswered`` lists the pending ids
    └── InvalidPayload             raised only by `Verdict.raise_for_invalid`

An invalid payload is not an error: it is returned as a verdict with violations.
"""

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import grpc

from sidecheck.printable_texts import make_printable
from sidecheck.values.error_reasons import ErrorReason

__all__ = [
    "InvalidResponse",
    "SidecheckError",
    "StreamClosed",
    "StreamUnavailable",
    "Unavailable",
]


class SidecheckError(Exception):
    """A request that has no result, with the reason.

    ``reason`` is a stable error reason in upper snake case, for example
    `ErrorReason.UNKNOWN_TOOL`; for errors of gRPC itself it is the name of the status code.
    ``metadata`` holds the variable parts of the message by name. ``retry_after`` is the
    time in seconds after which the server suggests a retry, or None.

    The text has the reason and the message, with a space in place of each character that is
    not printable: a server may be hostile. ``message`` is the message as it was sent.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        metadata: Mapping[str, str] = MappingProxyType({}),
        status: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        retry_after: float | None = None,
    ) -> None:
        # Reasons of servers are strings, too. Pickle restores an exception from its args, which
        # must contain a plain dict.
        reason = str(reason)
        super().__init__(reason, message, dict(metadata), status, retry_after)
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata)
        self.status = status
        self.retry_after = retry_after

    @property
    def json_rpc_error(self) -> dict[str, Any] | None:
        """The ``error`` of the JSON-RPC response to send, for a call to an unknown tool.

        None for all other errors. Decoded at each access.
        """
        try:
            error = json.loads(self.metadata.get("json_rpc_error", "null"))
        except ValueError:
            # A proxy may truncate metadata; the reason suffices.
            return None
        return error if isinstance(error, dict) else None

    def __str__(self) -> str:
        return make_printable(f"{self.reason}: {self.message}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.args == getattr(other, "args", None)

    def __hash__(self) -> int:
        return hash((self.reason, self.message))


class Unavailable(SidecheckError):
    """No Sidecheck server answered, after all retries that the deadline allows.

    Either the reason is ``SHUTTING_DOWN`` or ``OVERLOADED``, or the status has no reason of
    Sidecheck: a connection, a proxy or gRPC itself ended the call, and the reason is the
    name of the status code (`sidecheck.wire.errors` lists them). The client's
    ``on_unavailable`` applies to this error only. ``OVERLOADED`` is not retried.
    """


class InvalidResponse(SidecheckError):
    """The response of a server does not conform to the API.

    The message is missing, does not decode, or lacks the result of the request. The reason is
    ``INVALID_RESPONSE``. A stream ends with `StreamClosed` with this reason. The client's
    ``on_unavailable`` does not apply.
    """

    def __init__(self, fault: str) -> None:
        super().__init__(ErrorReason.INVALID_RESPONSE, fault, {}, grpc.StatusCode.INTERNAL)
        self.args = (fault,)


class StreamClosed(SidecheckError):
    """A stream ended before it was finished or before all results had arrived.

    ``unanswered`` holds the ids of the accepted items without a result, in order.
    They are not retried; the caller may send them again in another stream.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        metadata: Mapping[str, str] = MappingProxyType({}),
        status: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        unanswered: Iterable[str] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(reason, message, metadata, status, retry_after)
        self.unanswered = tuple(unanswered)
        self.args = (*self.args[:4], self.unanswered, retry_after)

    def __str__(self) -> str:
        return f"{super().__str__()} (items without an outcome: {len(self.unanswered)})"


class StreamUnavailable(StreamClosed, Unavailable):
    """A stream ended because its server stopped, was lost or did not respond in time.

    It is raised for any ``on_unavailable`` of the client, since only the caller can decide
    about the remaining items.
    """
