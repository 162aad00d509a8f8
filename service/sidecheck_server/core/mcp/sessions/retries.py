"""Rules on retries: requests with the input that an earlier result requested (2026-07-28)."""

from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import (
    RETRY_ARGUMENTS_CHANGED,
    RETRY_ID_REUSED,
    RETRY_INPUT_MISSING,
    RETRY_STATE_CHANGED,
    RETRY_UNASKED,
)
from sidecheck_server.core.mcp.sessions.input_requests import Input, check_response, read_input
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    digest_of,
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
_RESPONSES = ("params", "inputResponses")


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A request that may be retried."""

    key: Key
    #: Its method and name.
    subject: Key
    #: Digest of its arguments, b"" if it has none, None if it is unknown.
    arguments: bytes | None


@dataclass(frozen=True, slots=True)
class _InputRequired:
    """A result that requests input."""

    #: Number among all such results, from 1.
    number: int
    #: The request that it responds to.
    attempt: _Attempt
    state: Key | None
    #: Inputs by their keys.
    inputs: dict[str, Input]
    weight: int


class Retries:
    """Results that request input, by method and name of their requests."""

    methods: frozenset[str] | None = frozenset(_NAMES)

    def __init__(self, memory: SessionMemory) -> None:
        self._results: BoundedStore[list[_InputRequired]] = BoundedStore(_MAX_BYTES, memory)
        #: Requests without a response, and the number of the result that they retry, or 0.
        self._requests: BoundedStore[tuple[_Attempt, int]] = BoundedStore(_MAX_REQUESTS, memory)
        self._count = 0

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store results that request input, and check retries against them."""
        method = current.message.method
        if not RETRY_UNASKED.holds_in(current.version):
            return
        if current.message.kind is Kind.REQUEST:
            subject = (method, key_of(current.params.get(_NAMES[method])))
            arguments = (
                None if current.has_long_integers else _digest_of(current.params.get("arguments"))
            )
            attempt = _Attempt(current.key, subject, arguments)
            number = 0
            if "inputResponses" in current.params or "requestState" in current.params:
                number = self._check_retry(current, attempt, report)
            self._requests.put(current.key, (attempt, number))
        elif current.message.kind in {Kind.RESULT, Kind.ERROR}:
            request = self._requests.pop(current.key)
            # After an error, or without a response, a retry may be sent again.
            if request is not None and current.message.kind is Kind.RESULT:
                self._close(current, *request)

    def _close(self, current: SessionMessage, attempt: _Attempt, number: int) -> None:
        """Remove the result that was retried successfully, and store the current one."""
        outstanding = self._results.get(attempt.subject) or []
        outstanding[:] = [result for result in outstanding if result.number != number]
        if current.result.get("resultType") == "input_required":
            self._store(current, attempt)

    def _store(self, current: SessionMessage, attempt: _Attempt) -> None:
        state = current.result.get("requestState")
        requests = current.result.get("inputRequests")
        self._count += 1
        inputs = _inputs_of(requests) if isinstance(requests, dict) else {}
        result = _InputRequired(
            self._count,
            attempt,
            None if not isinstance(state, str) else key_of(state),
            inputs,
            _INPUT_BYTES * (1 + len(inputs)) + sum(map(_weight_of, inputs.items())),
        )
        earlier = self._results.pop(attempt.subject) or []
        # Several requests at once may need the same input.
        outstanding = [*earlier[1 - _MAX_RESULTS :], result]
        self._results.put(attempt.subject, outstanding, sum(item.weight for item in outstanding))

    def _check_retry(self, current: SessionMessage, attempt: _Attempt, report: Reporter) -> int:
        """Check a retry, and return the number of the result that it retries."""
        outstanding = self._results.get(attempt.subject)
        if not outstanding:
            if not self._results.forgot:
                name = "inputResponses" if "inputResponses" in current.params else "requestState"
                message = "no result requested input for this request"
                report(RETRY_UNASKED, Fault(("params", name), message))
            return 0
        given = current.params.get("requestState")
        state = key_of(given) if isinstance(given, str) else None
        results = [result for result in outstanding if result.state == state]
        if not results:
            results = outstanding
            # Another type is reported by the schema.
            if "requestState" not in current.params or isinstance(given, str):
                report(RETRY_STATE_CHANGED, _state_fault(current.params))
        elif attempt.arguments is not None and all(
            result.attempt.arguments not in {None, attempt.arguments} for result in results
        ):
            report(RETRY_ARGUMENTS_CHANGED, _arguments_fault(current.params))
        responses = current.params.get("inputResponses", {})
        results = _retried(results, attempt, responses)
        if all(result.attempt.key == attempt.key for result in results):
            message = "the request whose result requested input has this id"
            report(RETRY_ID_REUSED, Fault(("id",), message))
        # Of several that request different inputs, the one that is retried is not certain.
        if all(result.inputs == results[0].inputs for result in results):
            _check_responses(responses, results[0].inputs, report)
        return results[-1].number


def _retried(
    results: list[_InputRequired], attempt: _Attempt, responses: Any
) -> list[_InputRequired]:
    """Return those of *results* that the retry *attempt* with *responses* fits best."""
    same = [result for result in results if result.attempt.arguments == attempt.arguments]
    results = same or results
    names = (responses if isinstance(responses, dict) else {}).keys()
    return [result for result in results if result.inputs.keys() <= names] or results


def _check_responses(responses: Any, inputs: dict[str, Input], report: Reporter) -> None:
    if not isinstance(responses, dict):
        return
    missing = [name for name in inputs if name not in responses]
    if missing:
        path = _RESPONSES if responses else ("params",)
        names = ", ".join(repr(name[:64]) for name in missing[:5])
        report(RETRY_INPUT_MISSING, Fault(path, f"missing responses for {names}"))
    for name, input_ in inputs.items():
        response = responses.get(name)
        if isinstance(response, dict):
            check_response(name, response, input_, report)


def _inputs_of(requests: dict[str, Any]) -> dict[str, Input]:
    first = list(requests.items())[:_MAX_INPUTS]
    return {name: read_input(request) for name, request in first if isinstance(request, dict)}


def _weight_of(entry: tuple[str, Input]) -> int:
    name, input_ = entry
    return 4 * len(name) + len(input_.params)


def _digest_of(arguments: Any) -> bytes:
    """Return a digest of *arguments*; that of none and of an empty object is b""."""
    if not arguments:
        return b""
    return digest_of(arguments)


def _arguments_fault(params: dict[str, Any]) -> Fault:
    message = "expected the arguments of the request whose result requested input"
    return Fault(("params", "arguments") if "arguments" in params else ("params",), message)


def _state_fault(params: dict[str, Any]) -> Fault:
    if "requestState" in params:
        message = "expected the requestState of a result that requested input"
        return Fault(("params", "requestState"), message)
    return Fault(("params",), "missing the requestState of the result that requested input")
