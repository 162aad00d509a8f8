"""Requests whose responses are awaited, by their ids."""

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sidecheck_server.proxy.checks import CallTarget, NotCheckedError
from sidecheck_server.proxy.messages import Message, RequestId, string_value

__all__ = ["PendingRequests", "Request", "request_of"]

_MOST_CANCELLED = 1_000
_RESULT_TYPES_SINCE = "2026-07-28"


@dataclass(slots=True, eq=False)
class Request:
    """A request without a response yet."""

    id: RequestId
    #: JSON text of the id.
    id_text: bytes
    method: str
    #: The protocol version that applies to it; "" if unknown.
    version: str = ""
    #: Name of the tool that it calls; "" if it calls none.
    tool: str = ""
    #: What its result is validated against, if that is known.
    target: CallTarget | None = None
    #: Whether it asks for a task in place of a result (2025-11-25, tasks).
    is_task: bool = False
    #: The cursor of the page of a list that it asks for, None for the first; "" if it is no string.
    cursor: str | None = None
    is_cancelled: bool = False
    #: Why its result cannot be validated.
    failure: NotCheckedError | None = None

    def is_answered_by(self, result: Mapping[str, bytes]) -> bool:
        """Return whether *result* is no stand-in for a result that comes later.

        Stand-ins are a task and a request for more input (2025-11-25, tasks; 2026-07-28, multi
        round-trip requests). In versions that lack them, a server cannot claim to send them.
        """
        if self.is_task and "task" in result:
            return False
        kind = string_value(result.get("resultType", b'"complete"'))
        return kind == "complete" or self.version < _RESULT_TYPES_SINCE


class PendingRequests:
    """The open requests of one side, the oldest first where several have one id.

    Beyond *most*, the oldest is forgotten. A cancelled request may get a response or none,
    so only the last of them are remembered.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._requests: dict[RequestId, list[Request]] = {}
        self._cancelled: deque[Request] = deque()

    def add(self, request: Request) -> None:
        """Add *request*."""
        if self._most is not None and len(self._requests) >= self._most:
            del self._requests[next(iter(self._requests))]
        self._requests.setdefault(request.id, []).append(request)

    def find(self, id_: RequestId) -> Request | None:
        """Return the request that a response with *id_* answers."""
        requests = self._requests.get(id_)
        return requests[0] if requests else None

    def remove(self, request: Request) -> None:
        """Remove *request*, if it is there."""
        requests = self._requests.get(request.id, [])
        if request in requests:
            requests.remove(request)
            if not requests:
                del self._requests[request.id]

    def cancel(self, id_: RequestId) -> None:
        """Note that no response is due to the request with *id_*."""
        request = self.find(id_)
        if request is None or request.is_cancelled:
            return
        request.is_cancelled = True
        self._cancelled.append(request)
        if len(self._cancelled) > _MOST_CANCELLED:
            self.remove(self._cancelled.popleft())

    def take_due(self, ids: Collection[RequestId] | None = None) -> list[Request]:
        """Remove the requests with *ids*, by default all; return those with a response due."""
        taken = [
            request
            for id_ in (list(self._requests) if ids is None else ids)
            for request in self._requests.pop(id_, [])
        ]
        return [request for request in taken if not request.is_cancelled]


def request_of(message: Message, version: str = "") -> Request:
    """Return the request that *message* is."""
    params = message.params
    return Request(
        message.id,
        message.properties["id"],
        message.method,
        version,
        is_task="task" in params,
        cursor=string_value(params["cursor"]) if "cursor" in params else None,
    )
