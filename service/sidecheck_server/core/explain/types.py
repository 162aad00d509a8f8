"""Types of the explanation: messages, and the rules that make them."""

from collections.abc import Callable
from dataclasses import dataclass

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.values import Values

__all__ = ["Message", "MessageRule"]


@dataclass(frozen=True, slots=True)
class Message:
    """Message and suggestion of a violation."""

    text: str
    suggestion: str = ""


MessageRule = Callable[[Fault, Values], Message]
"""Returns the message for a fault of one keyword."""
