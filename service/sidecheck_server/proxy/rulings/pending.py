"""Pending requests, keyed by id."""

from collections import OrderedDict, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sidecheck_server.proxy.checks import CallTarget, NotCheckedError
from sidecheck_server.proxy.messages import (
    Message,
    RequestId,
    read_cursor,
    request_id,
    string_value,
)

__all__ = ["PendingRequests", "Request", "are_similar", "request_of"]

_MAX_CANCELLED = 1_000
_MAX_ANSWERED = 1_000
"""Ids of former requests that are remembered."""
_MAX_DIGITS = 300
"""Maximum length of a string that is read as a number."""
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
    #: Cursor of the requested page of a list, as by `read_cursor`; None for the first page.
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
        #: Ids of the latest requests that were removed.
        self._answered: OrderedDict[RequestId, None] = OrderedDict()

    def add(self, request: Request) -> None:
        """Add *request*."""
        if self._maximum is not None and len(self._requests) >= self._maximum:
            self.remove(next(iter(self._requests)))
        self._requests[request] = None
        self._by_id.setdefault(request.id, OrderedDict())[request] = None

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, request: Request) -> bool:
        return request in self._requests

    def find(self, id_: RequestId) -> Request | None:
        """Return the request to which a response with *id_* belongs."""
        return next(iter(self._by_id.get(id_, ())), None)

    def find_similar(self, id_: RequestId) -> Request | None:
        """Return the request whose id differs from *id_* only in that one of them is a string.

        Some readers accept ``"5"`` as the id of a response to the request 5.
        """
        similar_id = _similar_id(id_)
        return None if similar_id is None else self.find(similar_id)

    def find_only(self) -> Request | None:
        """Return the request that waits for a response, None if there are none or several."""
        # At most the kept cancelled requests are skipped.
        waiting = (request for request in self._requests if not request.is_cancelled)
        first = next(waiting, None)
        return first if next(waiting, None) is None else None

    def note_answered(self, id_: RequestId) -> None:
        """Remember *id_* like that of a former request."""
        self._answered[id_] = None
        self._answered.move_to_end(id_)
        if len(self._answered) > _MAX_ANSWERED:
            self._answered.popitem(last=False)

    def was_answered(self, id_: RequestId) -> bool:
        """Return whether *id_* is, exactly or by `find_similar`, that of a former request."""
        return id_ in self._answered or _similar_id(id_) in self._answered

    def remove(self, request: Request) -> None:
        """Remove *request*, if it is pending."""
        if request in self._requests:
            del self._requests[request]
            self.note_answered(request.id)
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
            self.note_answered(request.id)
        return [request for request in requests if not request.is_cancelled]


def are_similar(first: RequestId, second: RequestId) -> bool:
    """Return whether the ids differ only in that one of them is a string."""
    return _similar_id(first) == second


def _similar_id(id_: RequestId) -> RequestId | None:
    """Return the string for a number *id_*, and the number for its string, None for others."""
    kind, value = id_
    if kind is float and isinstance(value, int | float):
        is_integer = isinstance(value, int) or value.is_integer()
        return (str, str(int(value) if is_integer else value))
    if isinstance(value, str) and len(value) <= _MAX_DIGITS:
        number = request_id(value.encode("utf-8", "replace"))
        return number if number[0] is float else None
    return None


def request_of(message: Message, version: str = "") -> Request:
    """Return the pending request for *message*."""
    params = message.params
    return Request(
        message.id,
        message.properties["id"],
        message.method,
        version,
        is_task="task" in params,
        cursor=read_cursor(params["cursor"]) if "cursor" in params else None,
    )
