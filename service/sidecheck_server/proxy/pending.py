"""Pending requests, keyed by id."""

from collections import OrderedDict, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sidecheck_server.proxy.checks import CallTarget, NotCheckedError
from sidecheck_server.proxy.messages import Message, RequestId, string_value

__all__ = ["PendingRequests", "Request", "request_of"]

_MAX_CANCELLED = 1_000
_FIRST_VERSION_WITH_RESULT_TYPES = "2026-07-28"


@dataclass(slots=True, eq=False)
class Request:
    """A request without a response yet."""

    id: RequestId
    #: JSON text of the id.
    id_text: bytes
    method: str
    #: Protocol version that applies to it; "" if unknown.
    version: str = ""
    #: Name of the tool that it calls; "" if it is not a call.
    tool: str = ""
    #: Target to validate its result against; None if unknown.
    target: CallTarget | None = None
    #: Whether it requests a task in place of a result (2025-11-25, tasks).
    is_task: bool = False
    #: Cursor of the requested page of a list: None for the first, "" if it is not a string.
    cursor: str | None = None
    is_cancelled: bool = False
    #: Error that prevents the validation of its result.
    failure: NotCheckedError | None = None

    def is_answered_by(self, result: Mapping[str, bytes]) -> bool:
        """Return whether *result* is the final result rather than an interim one.

        Interim results are a task and a request for more input (2025-11-25, tasks; 2026-07-28,
        multi round-trip requests). In versions that lack them, every result is final.
        """
        if self.is_task and "task" in result:
            return False
        result_type = string_value(result.get("resultType", b'"complete"'))
        return result_type == "complete" or self.version < _FIRST_VERSION_WITH_RESULT_TYPES


class PendingRequests:
    """Pending requests of one side. If several have the same id, a response is to the oldest.

    Beyond *maximum*, the oldest request is removed. A cancelled request may never get a response,
    so only the latest cancelled ones are kept. Each operation on one request takes constant time.
    """

    def __init__(self, maximum: int | None = None) -> None:
        self._maximum = maximum
        # OrderedDict, because the first key of a plain dict takes linear time after removals.
        self._requests: OrderedDict[Request, None] = OrderedDict()
        self._by_id: dict[RequestId, OrderedDict[Request, None]] = {}
        self._cancelled: deque[Request] = deque()

    def add(self, request: Request) -> None:
        """Add *request*."""
        if self._maximum is not None and len(self._requests) >= self._maximum:
            self.remove(next(iter(self._requests)))
        self._requests[request] = None
        self._by_id.setdefault(request.id, OrderedDict())[request] = None

    def __len__(self) -> int:
        return len(self._requests)

    def find(self, id_: RequestId) -> Request | None:
        """Return the request to which a response with *id_* belongs."""
        return next(iter(self._by_id.get(id_, ())), None)

    def remove(self, request: Request) -> None:
        """Remove *request*, if it is pending."""
        if request in self._requests:
            del self._requests[request]
            same_id = self._by_id[request.id]
            del same_id[request]
            if not same_id:
                del self._by_id[request.id]

    def cancel(self, id_: RequestId) -> None:
        """Mark the request with *id_* as cancelled, so that it needs no response."""
        request = self.find(id_)
        if request is None or request.is_cancelled:
            return
        request.is_cancelled = True
        self._cancelled.append(request)
        if len(self._cancelled) > _MAX_CANCELLED:
            self.remove(self._cancelled.popleft())

    def pop(self, ids: Collection[RequestId] | None = None) -> list[Request]:
        """Remove the requests with *ids*, by default all; return those that need a response."""
        keys = list(self._by_id) if ids is None else ids
        requests = [request for id_ in keys for request in self._by_id.pop(id_, ())]
        for request in requests:
            del self._requests[request]
        return [request for request in requests if not request.is_cancelled]


def request_of(message: Message, version: str = "") -> Request:
    """Return the pending request for *message*."""
    params = message.params
    return Request(
        message.id,
        message.properties["id"],
        message.method,
        version,
        is_task="task" in params,
        cursor=string_value(params["cursor"]) if "cursor" in params else None,
    )
