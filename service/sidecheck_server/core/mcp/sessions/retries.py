"""Retries: requests that bring what the result before them asked for (since 2026-07-28)."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Fault
from sidecheck_server.core.mcp.rules.sessions import (
    RETRY_INPUT_MISSING,
    RETRY_INPUT_OTHER,
    RETRY_STATE_CHANGED,
    RETRY_UNASKED,
)
from sidecheck_server.core.mcp.sessions.memory import BoundedStore, Key, Seen, Tell, key_of

__all__ = ["Retries"]

_MOST_BYTES = 4 << 20
"""What the inputs that are waited for may weigh together."""

_MOST = 10_000
_LEAST = 256
_MOST_INPUTS = 1000
"""How many of the inputs that a result asks for are held against its retry."""

_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MARKS = {
    "elicitation/create": "action",
    "sampling/createMessage": "model",
    "roots/list": "roots",
}
"""A member that the result of each method must have, and no other has."""

_FOR = ("params", "inputResponses")


@dataclass(frozen=True, slots=True)
class _Input:
    """One input that a result asked for."""

    #: "" if it is none that is known.
    method: str
    #: The form, if the method has one, as a text: its value takes twenty times the memory.
    form: msgspec.Raw | None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a result asked for."""

    #: Its number among all.
    number: int
    state: Key | None
    #: By their keys.
    inputs: dict[str, _Input]
    weight: int


class Retries:
    """What results asked for, by the method and the name of the request that they answered."""

    def __init__(self) -> None:
        self._asked: BoundedStore[list[_Asked]] = BoundedStore(_MOST_BYTES)
        #: The subjects of requests that have no answer yet, and the number of what was asked
        #: for, 0 if they are no retries.
        self._sent: BoundedStore[tuple[Key, int]] = BoundedStore(_MOST)
        self._count = 0

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember what a result asks for, and hold a retry against it."""
        method = seen.message.method
        if method not in _NAMES or not RETRY_UNASKED.holds_in(seen.version):
            return
        if seen.message.kind is Kind.REQUEST:
            subject = (method, key_of(seen.params.get(_NAMES[method])))
            number = 0
            if "inputResponses" in seen.params or "requestState" in seen.params:
                number = self._retry(seen, subject, tell)
            self._sent.put(seen.key, (subject, number))
        elif seen.message.kind in {Kind.RESULT, Kind.ERROR}:
            sent = self._sent.pop(seen.key)
            # After an error, or without an answer, the same may be sent again.
            if sent is not None and seen.message.kind is Kind.RESULT:
                self._answered(seen, *sent)

    def _answered(self, seen: Seen, subject: Key, number: int) -> None:
        waiting = self._asked.get(subject) or []
        waiting[:] = [each for each in waiting if each.number != number]
        if seen.result.get("resultType") == "input_required":
            self._ask(seen, subject)

    def _ask(self, seen: Seen, subject: Key) -> None:
        state = seen.result.get("requestState")
        inputs = seen.result.get("inputRequests")
        self._count += 1
        kept = _inputs(inputs) if isinstance(inputs, dict) else {}
        asked = _Asked(
            self._count,
            None if not isinstance(state, str) else key_of(state),
            kept,
            _LEAST * (1 + len(kept)) + sum(map(_weight_of, kept.items())),
        )
        before = self._asked.pop(subject) or []
        # The same may be asked for by several requests at once; the last ones are kept.
        waiting = [*before[-15:], asked]
        self._asked.put(subject, waiting, sum(each.weight for each in waiting))

    def _retry(self, seen: Seen, subject: Key, tell: Tell) -> int:
        """Hold a retry against what was asked for, and return the number of that."""
        waiting = self._asked.get(subject)
        if not waiting:
            if not self._asked.forgot:
                at = "inputResponses" if "inputResponses" in seen.params else "requestState"
                said = "no result asked for more input to this request"
                tell(RETRY_UNASKED, Fault(("params", at), said))
            return 0
        given = seen.params.get("requestState")
        state = key_of(given) if isinstance(given, str) else None
        asked = next((each for each in waiting if each.state == state), None)
        if asked is None:
            asked = waiting[-1]
            tell(RETRY_STATE_CHANGED, _state_fault(seen.params))
        self._inputs(seen.params.get("inputResponses", {}), asked, tell)
        return asked.number

    def _inputs(self, given: Any, asked: _Asked, tell: Tell) -> None:
        if not isinstance(given, dict):
            return
        missing = [name for name in asked.inputs if name not in given]
        if missing:
            at = _FOR if given else ("params",)
            names = ", ".join(repr(name[:64]) for name in missing[:5])
            tell(RETRY_INPUT_MISSING, Fault(at, f"no response is given for {names}"))
        for name, wanted in asked.inputs.items():
            answer = given.get(name)
            if isinstance(answer, dict):
                _hold(name, answer, wanted, tell)


def _hold(name: str, answer: dict[str, Any], wanted: _Input, tell: Tell) -> None:
    """Hold *answer* against what was *wanted* under *name*."""
    mark = _MARKS.get(wanted.method)
    if mark is not None and mark not in answer:
        others = [method for method, each in _MARKS.items() if each in answer]
        if others:
            said = f"a result of {wanted.method} was asked for, not one of {others[0]}"
            tell(RETRY_INPUT_OTHER, Fault((*_FOR, name), said))
    elif wanted.form is not None and answer.get("action") == "accept":
        content = answer.get("content")
        if isinstance(content, dict):
            at = (*_FOR, name, "content")
            tell.ask(
                DeferredCheck(wanted.form, (), (content,), at, assert_formats=True, silent=True)
            )


def _inputs(inputs: dict[str, Any]) -> dict[str, _Input]:
    found = {}
    for name, request in list(inputs.items())[:_MOST_INPUTS]:
        if not isinstance(request, dict):
            continue
        method, params = request.get("method"), request.get("params")
        known = isinstance(method, str) and method in _MARKS
        form = params.get("requestedSchema") if isinstance(params, dict) else None
        text = msgspec.Raw(msgspec.json.encode(form)) if isinstance(form, dict) else None
        found[name] = _Input(str(method) if known else "", text)
    return found


def _weight_of(asked: tuple[str, _Input]) -> int:
    name, wanted = asked
    return len(name) + (0 if wanted.form is None else len(bytes(wanted.form)))


def _state_fault(params: dict[str, Any]) -> Fault:
    if "requestState" in params:
        said = "this is not the requestState of a result that asked for more input"
        return Fault(("params", "requestState"), said)
    return Fault(("params",), "the requestState of the result that asked for more is missing")
