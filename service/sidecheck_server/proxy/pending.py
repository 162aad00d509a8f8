"""Requests whose responses are awaited, by their ids."""

from collections import OrderedDict, deque
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
    so only the last of them are remembered. Each operation on one request takes the same time,
    however many others are open and whatever their ids.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        # Ordered dictionaries, because the first key of others is searched for among removed ones.
        self._requests: OrderedDict[Request, None] = OrderedDict()
        self._by_id: dict[RequestId, OrderedDict[Request, None]] = {}
        self._cancelled: deque[Request] = deque()

    def add(self, request: Request) -> None:
        """Add *request*."""
        if self._most is not None and len(self._requests) >= self._most:
            self.remove(next(iter(self._requests)))
        self._requests[request] = None
        self._by_id.setdefault(request.id, OrderedDict())[request] = None

    def find(self, id_: RequestId) -> Request | None:
        """Return the request that a response with *id_* answers."""
        return next(iter(self._by_id.get(id_, ())), None)

    def remove(self, request: Request) -> None:
        """Remove *request*, if it is there."""
        if request in self._requests:
            del self._requests[request]
            same_id = self._by_id[request.id]
            del same_id[request]
            if not same_id:
                del self._by_id[request.id]

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
        keys = list(self._by_id) if ids is None else ids
        taken = [request for id_ in keys for request in self._by_id.pop(id_, ())]
        for request in taken:
            del self._requests[request]
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
