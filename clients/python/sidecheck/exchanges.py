"""What a client says in a stream and makes of the answers, without any I/O."""

from collections import deque
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from sidecheck.info import Limits
from sidecheck.items import Item
from sidecheck.options import Options
from sidecheck.refusals import Refused
from sidecheck.targets import Target
from sidecheck.wire import requests, responses
from sidecheck.wire.responses import Judgement

__all__ = ["Exchange", "too_large"]

#: The reason of the server for a request with something wrong in it; here, a payload
#: that cannot become one.
INVALID_REQUEST: Final = "INVALID_REQUEST"


def too_large(found: int, limits: Limits) -> Refused:
    """Return the refusal of an item that no message to the server can hold."""
    limit = limits.message_bytes
    return Refused(
        "LIMIT_EXCEEDED",
        f"the item: {found:,}, more than the limit of {limit:,} (message_bytes)",
        {"bound": "message_bytes", "limit": str(limit), "found": str(found)},
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )


def inexpressible(error: Exception) -> Refused:
    """Return the refusal of an item whose payload JSON cannot express."""
    return Refused(
        INVALID_REQUEST,
        f"the item cannot be sent: {error}",
        {"field": "subject"},
        grpc.StatusCode.INVALID_ARGUMENT,
    )


class Exchange:
    """The two sides of one stream.

    An item that cannot be sent is refused here. Its id is sent without it all the
    same, and the refusal stands in for the answer: so every item has one answer
    from the server, and all of them come in order.
    """

    def __init__(self, target: Target | None, options: Options | None, limits: Limits) -> None:
        self._opening = requests.stream_defaults(target, options)
        self._limits = limits
        #: For each item without an answer, the refusal that it has already.
        self._refusals: deque[Refused | None] = deque()

    def opening(self) -> Message:
        """Return the first message.

        Raises:
            Refused: It is larger than the server receives.
        """
        if self._opening.ByteSize() > self._limits.message_bytes:
            raise too_large(self._opening.ByteSize(), self._limits)
        return self._opening

    def question(self, id_: str, item: Item) -> Message:
        """Return the message for one item."""
        try:
            message, refusal = requests.stream_item(id_, item), None
        except (TypeError, ValueError) as error:
            message, refusal = requests.stream_item(id_, None), inexpressible(error)
        if (found := message.ByteSize()) > self._limits.message_bytes:
            message, refusal = requests.stream_item(id_, None), too_large(found, self._limits)
        self._refusals.append(refusal)
        return message

    def answer(self, response: Any) -> tuple[str, Judgement]:
        """Return the id of the next item, "" where the server could not read it, and its answer."""
        id_, judgement = responses.streamed(response)
        refusal = self._refusals.popleft() if self._refusals else None
        return id_, refusal or judgement
