"""A message of the protocol, as far as its envelope tells what it is."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sidecheck_server.core.mcp.rules.rule import Path

__all__ = ["Kind", "Message"]


class Kind(StrEnum):
    """What a message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    #: None of these, or not to be told.
    BROKEN = "broken"


@dataclass(slots=True)
class Message:
    """A message that was read. Not frozen, since making a frozen one takes far longer."""

    kind: Kind
    #: Where it stands in the payload: () or, in a batch, the index alone.
    path: Path
    #: The whole message.
    value: Any
    #: The id, if it is one that a message may have.
    id: str | int | None = None
    #: The method, or for a response that of the request that it answers; "" if not known.
    method: str = ""
