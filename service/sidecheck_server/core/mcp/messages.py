"""Messages of the protocol: JSON-RPC requests, notifications and responses."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules.rule import Path
from sidecheck_server.core.mcp.surfaces import Surfaces

__all__ = ["Kind", "Message", "check_messages"]


class Kind(StrEnum):
    """What a message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    #: None of these, or not to be told.
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was read."""

    kind: Kind
    #: Where it stands in the payload: () or, in a batch, the index alone.
    path: Path
    #: The whole message.
    value: Any
    #: The id, if it is one that a message may have.
    id: str | int | None = None
    #: The method, or for a response that of the request that it answers; "" if not known.
    method: str = ""


def check_messages(
    value: Any, answers: str, findings: Findings, surfaces: Surfaces
) -> tuple[Message, ...]:
    """Add to *findings* what is wrong with *value*, a message or a batch, and return its messages.

    *answers* is the method of the request that a response answers, or "".

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of a type is not there yet.
    """
    raise NotImplementedError
