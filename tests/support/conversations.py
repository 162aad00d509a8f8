"""Holds the Python client's conversations without any server."""

from typing import Any, TypeVar

from sidecheck.conversations import Call, Conversation

__all__ = ["hold"]

Value = TypeVar("Value")


def hold(conversation: Conversation[Value], *answers: object) -> tuple[Value, list[Call]]:
    """Hold *conversation*, giving *answers* in turn; return its value and the calls made.

    An answer that is an exception is thrown. All of them must be asked for.
    """
    calls: list[Call] = []
    left: list[Any] = list(answers)
    try:
        call = next(conversation)
        while True:
            calls.append(call)
            answer = left.pop(0)
            throw = isinstance(answer, Exception)
            call = conversation.throw(answer) if throw else conversation.send(answer)
    except StopIteration as end:
        assert [] == left
        return end.value, calls
