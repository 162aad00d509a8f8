"""Rules on retries: requests with the input that an earlier result requested (2026-07-28)."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Fault
from sidecheck_server.core.mcp.rules.sessions import (
    RETRY_INPUT_MISSING,
    RETRY_INPUT_OTHER,
    RETRY_STATE_CHANGED,
    RETRY_UNASKED,
)
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["Retries"]

_MAX_BYTES = 4 << 20
"""Total weight of the results whose retry is outstanding."""

_MAX_REQUESTS = 10_000
_INPUT_BYTES = 256
"""Weight of a result, and of each of its inputs, beside what they hold."""

_MAX_INPUTS = 1000
"""Number of inputs of a result that its retry is checked for."""

_MAX_RESULTS = 16
"""Number of results for requests of the same name that are stored."""

#: Property that names the subject of a request, by method.
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_DISCRIMINATORS = {
    "elicitation/create": "action",
    "sampling/createMessage": "model",
    "roots/list": "roots",
}
"""By method, a property that its result must have and those of the others never have."""

_RESPONSES = ("params", "inputResponses")


@dataclass(frozen=True, slots=True)
class _Input:
    """An input that a result requests."""

    #: "" if unknown.
    method: str
    #: Requested schema of a form as text, which takes a twentieth of the memory of its
    #: decoded value; None if there is no form.
    form: msgspec.Raw | None


@dataclass(frozen=True, slots=True)
class _InputRequired:
    """A result that requests input."""

    #: Number among all such results, from 1.
    number: int
    state: Key | None
    #: Inputs by their keys.
    inputs: dict[str, _Input]
    weight: int


class Retries:
    """Results that request input, by method and name of their requests."""

    def __init__(self, memory: SessionMemory) -> None:
        self._results: BoundedStore[list[_InputRequired]] = BoundedStore(_MAX_BYTES, memory)
        #: Requests without a response: the subject, and the number of the result that they
        #: retry, or 0.
        self._requests: BoundedStore[tuple[Key, int]] = BoundedStore(_MAX_REQUESTS, memory)
        self._count = 0

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store results that request input, and check retries against them."""
        method = current.message.method
        if method not in _NAMES or not RETRY_UNASKED.holds_in(current.version):
            return
        if current.message.kind is Kind.REQUEST:
            subject = (method, key_of(current.params.get(_NAMES[method])))
            number = 0
            if "inputResponses" in current.params or "requestState" in current.params:
                number = self._check_retry(current, subject, report)
            self._requests.put(current.key, (subject, number))
        elif current.message.kind in {Kind.RESULT, Kind.ERROR}:
            request = self._requests.pop(current.key)
            # After an error, or without a response, a retry may be sent again.
            if request is not None and current.message.kind is Kind.RESULT:
                self._close(current, *request)

    def _close(self, current: SessionMessage, subject: Key, number: int) -> None:
        """Remove the result that was retried successfully, and store the current one."""
        outstanding = self._results.get(subject) or []
        outstanding[:] = [result for result in outstanding if result.number != number]
        if current.result.get("resultType") == "input_required":
            self._store(current, subject)

    def _store(self, current: SessionMessage, subject: Key) -> None:
        state = current.result.get("requestState")
        requests = current.result.get("inputRequests")
        self._count += 1
        inputs = _inputs_of(requests) if isinstance(requests, dict) else {}
        result = _InputRequired(
            self._count,
            None if not isinstance(state, str) else key_of(state),
            inputs,
            _INPUT_BYTES * (1 + len(inputs)) + sum(map(_weight_of, inputs.items())),
        )
        earlier = self._results.pop(subject) or []
        # Several requests at once may need the same input.
        outstanding = [*earlier[1 - _MAX_RESULTS :], result]
        self._results.put(subject, outstanding, sum(item.weight for item in outstanding))

    def _check_retry(self, current: SessionMessage, subject: Key, report: Reporter) -> int:
        """Check a retry, and return the number of the result that it retries."""
        outstanding = self._results.get(subject)
        if not outstanding:
            if not self._results.forgot:
                name = "inputResponses" if "inputResponses" in current.params else "requestState"
                message = "no result requested input for this request"
                report(RETRY_UNASKED, Fault(("params", name), message))
            return 0
        given = current.params.get("requestState")
        state = key_of(given) if isinstance(given, str) else None
        result = next((result for result in outstanding if result.state == state), None)
        if result is None:
            result = outstanding[-1]
            report(RETRY_STATE_CHANGED, _state_fault(current.params))
        self._check_responses(current.params.get("inputResponses", {}), result, report)
        return result.number

    def _check_responses(self, responses: Any, result: _InputRequired, report: Reporter) -> None:
        if not isinstance(responses, dict):
            return
        missing = [name for name in result.inputs if name not in responses]
        if missing:
            path = _RESPONSES if responses else ("params",)
            names = ", ".join(repr(name[:64]) for name in missing[:5])
            report(RETRY_INPUT_MISSING, Fault(path, f"missing responses for {names}"))
        for name, input_ in result.inputs.items():
            response = responses.get(name)
            if isinstance(response, dict):
                _check_response(name, response, input_, report)


def _check_response(name: str, response: dict[str, Any], input_: _Input, report: Reporter) -> None:
    """Check that *response* fits the *input_* that was requested under *name*."""
    discriminator = _DISCRIMINATORS.get(input_.method)
    if discriminator is not None and discriminator not in response:
        others = [method for method, other in _DISCRIMINATORS.items() if other in response]
        if others:
            message = f"expected a result of {input_.method}, found one of {others[0]}"
            report(RETRY_INPUT_OTHER, Fault((*_RESPONSES, name), message))
    elif input_.form is not None and response.get("action") == "accept":
        content = response.get("content")
        if isinstance(content, dict):
            path = (*_RESPONSES, name, "content")
            report.defer(
                DeferredCheck(input_.form, (), (content,), path, assert_formats=True, silent=True)
            )


def _inputs_of(requests: dict[str, Any]) -> dict[str, _Input]:
    inputs = {}
    for name, request in list(requests.items())[:_MAX_INPUTS]:
        if not isinstance(request, dict):
            continue
        method, params = request.get("method"), request.get("params")
        known = isinstance(method, str) and method in _DISCRIMINATORS
        form = params.get("requestedSchema") if isinstance(params, dict) else None
        text = msgspec.Raw(msgspec.json.encode(form)) if isinstance(form, dict) else None
        inputs[name] = _Input(str(method) if known else "", text)
    return inputs


def _weight_of(entry: tuple[str, _Input]) -> int:
    name, input_ = entry
    return len(name) + (0 if input_.form is None else len(bytes(input_.form)))


def _state_fault(params: dict[str, Any]) -> Fault:
    if "requestState" in params:
        message = "expected the requestState of a result that requested input"
        return Fault(("params", "requestState"), message)
    return Fault(("params",), "missing the requestState of the result that requested input")
