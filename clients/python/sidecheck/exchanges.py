"""What a client says in a stream and makes of the answers, without any I/O."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import grpc
from google.protobuf.message import Message

from sidecheck.checks import ProtocolMessage
from sidecheck.errors import SidecheckError
from sidecheck.findings import CheckResult
from sidecheck.info import Limits
from sidecheck.items import Item
from sidecheck.verdicts import Verdict
from sidecheck.wire import protocol_requests, protocol_responses, requests, responses, rpcs

__all__ = ["PAYLOADS", "SESSION", "Exchange", "Kind", "too_large"]

ItemT = TypeVar("ItemT")
OutcomeT = TypeVar("OutcomeT")

#: The reason of the server for a request with something wrong in it; here, a payload
#: that cannot become one.
INVALID_REQUEST: Final = "INVALID_REQUEST"


def too_large(found: int, limits: Limits) -> SidecheckError:
    """Return the refusal of an item that no message to the server can hold."""
    limit = limits.message_bytes
    return SidecheckError(
        "LIMIT_EXCEEDED",
        f"the item: {found:,}, more than the limit of {limit:,} (message_bytes)",
        {"bound": "message_bytes", "limit": str(limit), "found": str(found)},
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )


def inexpressible(error: Exception) -> SidecheckError:
    """Return the refusal of an item whose payload JSON cannot express."""
    return SidecheckError(
        INVALID_REQUEST,
        f"the item cannot be sent: {error}",
        {"field": "subject"},
        grpc.StatusCode.INVALID_ARGUMENT,
    )


@dataclass(frozen=True, slots=True)
class Kind(Generic[ItemT, OutcomeT]):
    """A kind of stream: its procedure, and how its items and answers are translated."""

    rpc: rpcs.Rpc[Any, Any]
    #: From an id and an item, or no item, to the message for it.
    question: Callable[[str, ItemT | None], Message]
    #: From the response to the id and the outcome of an item.
    answer: Callable[[Any], tuple[str, OutcomeT | SidecheckError]]


#: Payloads to be judged.
PAYLOADS: Final[Kind[Item, Verdict]] = Kind(
    rpcs.VALIDATE_STREAM, requests.stream_item, responses.streamed
)

#: The messages of a session to be checked.
SESSION: Final[Kind[ProtocolMessage, CheckResult]] = Kind(
    rpcs.CHECK_SESSION, protocol_requests.session_item, protocol_responses.session_answer
)


class Exchange(Generic[ItemT, OutcomeT]):
    """The two sides of one stream.

    An item that cannot be sent is refused here. Its id is sent without it all the
    same, and the refusal stands in for the answer: so every item has one answer
    from the server, and all of them come in order.
    """

    def __init__(self, kind: Kind[ItemT, OutcomeT], opening: Message, limits: Limits) -> None:
        self._kind = kind
        self._opening = opening
        self._limits = limits
        #: For each item without an answer, the refusal that it has already.
        self._refusals: deque[SidecheckError | None] = deque()

    def opening(self) -> Message:
        """Return the first message.

        Raises:
            Refused: It is larger than the server receives.
        """
        if self._opening.ByteSize() > self._limits.message_bytes:
            raise too_large(self._opening.ByteSize(), self._limits)
        return self._opening

    def question(self, id_: str, item: ItemT) -> Message:
        """Return the message for one item."""
        try:
            message, refusal = self._kind.question(id_, item), None
        except (TypeError, ValueError) as error:
            message, refusal = self._kind.question(id_, None), inexpressible(error)
        if (found := message.ByteSize()) > self._limits.message_bytes:
            message, refusal = self._kind.question(id_, None), too_large(found, self._limits)
        self._refusals.append(refusal)
        return message

    def answer(self, response: Any) -> tuple[str, OutcomeT | SidecheckError]:
        """Return the id of the next item, "" where the server could not read it, and its answer."""
        id_, outcome = self._kind.answer(response)
        refusal = self._refusals.popleft() if self._refusals else None
        return id_, refusal or outcome
