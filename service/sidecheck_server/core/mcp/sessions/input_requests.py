"""Rules on requests for input: their responses, retries, and URL elicitations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules import elicitation_results, sampling
from sidecheck_server.core.mcp.rules.rule import Fault, Rule
from sidecheck_server.core.mcp.rules.sessions import (
    ELICITATION_ID_UNKNOWN,
    RETRY_ARGUMENTS_CHANGED,
    RETRY_ID_REUSED,
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
    digest_of,
    encode_compact,
    key_of,
)

__all__ = ["Elicitations", "Input", "Retries", "check_response", "encode_request", "read_input"]

_MAX_PARAMS_BYTES = 128 << 10
"""Longest text of params that is stored. The largest schema of a real tool has 71 KB."""

_RULES_BY_METHOD: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        "elicitation/create": elicitation_results.REQUEST_RULES,
        "sampling/createMessage": sampling.REQUEST_RULES,
    }
)
"""Rules that compare a response with its request, by the method of the request."""

_RESPONSES = ("params", "inputResponses")
_DISCRIMINATORS = {
    "elicitation/create": "action",
    "sampling/createMessage": "model",
    "roots/list": "roots",
}
"""By method, a required property of its result that results of other methods lack."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input that a result requests."""

    #: "" if unknown.
    method: str
    #: JSON of the params of its request that the check of the response reads, or b"".
    params: bytes


def read_input(request: Any) -> Input:
    """Return the input that *request*, an item of ``inputRequests``, requests."""
    method = request.get("method") if isinstance(request, dict) else None
    if isinstance(method, str) and method in _DISCRIMINATORS:
        return Input(method, _encode_params(method, request.get("params")))
    return Input("", b"")


def check_response(name: str, response: dict[str, Any], input_: Input, report: Reporter) -> None:
    """Check that *response* fits the *input_* that was requested under *name*."""
    discriminator = _DISCRIMINATORS.get(input_.method)
    if discriminator is not None and discriminator not in response:
        methods = [method for method, key in _DISCRIMINATORS.items() if key in response]
        if methods:
            message = f"expected a result of {input_.method}, found one of {methods[0]}"
            report(RETRY_INPUT_OTHER, Fault((*_RESPONSES, name), message))
    elif input_.params:
        rules = _RULES_BY_METHOD[input_.method]
        report.check_answer(rules, response, (*_RESPONSES, name), input_.params)


def _encode_params(method: str, params: Any) -> bytes:
    """Return the JSON of the *params* that the rules for responses read, or b"".

    JSON text takes a twentieth of the memory of decoded values.
    """
    if not isinstance(params, dict):
        return b""
    if method == "elicitation/create":
        selected = {name: params[name] for name in ("mode", "requestedSchema") if name in params}
    elif method == "sampling/createMessage":
        selected = _select_sampling_params(params)
    else:
        return b""
    text = encode_compact(selected)
    return text if len(text) <= _MAX_PARAMS_BYTES else b""


def encode_request(method: str, params: Any) -> bytes:
    """Return the JSON of a request, reduced to the parts that rules for its response read.

    Returns b"" if there are none.
    """
    text = _encode_params(method, params)
    return encode_compact({"method": method, "params": msgspec.Raw(text)}) if text else b""


def _select_sampling_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the tools, the tool choice, and one placeholder if a message uses a tool.

    The rules read nothing else of the messages, which may contain images.
    """
    selected: dict[str, Any] = {}
    if "toolChoice" in params:
        selected["toolChoice"] = params["toolChoice"]
    if isinstance(params.get("tools"), list):
        selected["tools"] = [
            {name: tool[name] for name in ("name", "inputSchema") if name in tool}
            for tool in params["tools"]
            if isinstance(tool, dict)
        ]
    if isinstance(params.get("messages"), list):
        uses_tools = any(map(_uses_tool, params["messages"]))
        selected["messages"] = [{"content": {"type": "tool_use"}}] if uses_tools else []
    return selected


def _uses_tool(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(block, dict) and block.get("type") == "tool_use" for block in blocks)


_MAX_BYTES = 4 << 20
"""Total weight of the results that await a retry."""

_MAX_REQUESTS = 10_000
_INPUT_BYTES = 256
"""Weight of a result, and of each of its inputs, without names and params."""

_MAX_INPUTS = 1000
"""Number of inputs of a result that are stored; the retry is checked for these."""

_MAX_RESULTS = 16
"""Number of results that are stored for requests of the same method and name."""

#: Property that names the subject of a request, by method.
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A request that may be retried."""

    key: Key
    #: Its method and name.
    subject: Key
    #: Digest of its arguments; b"" if it has no arguments, None if the digest is unknown.
    arguments: bytes | None


@dataclass(frozen=True, slots=True)
class _InputRequired:
    """A result that requests input."""

    #: Ordinal number of this result in the session, from 1.
    number: int
    #: Request of the result.
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
                None
                if current.has_long_integers
                else _digest_arguments(current.params.get("arguments"))
            )
            attempt = _Attempt(current.key, subject, arguments)
            number = 0
            if "inputResponses" in current.params or "requestState" in current.params:
                number = self._check_retry(current, attempt, report)
            self._requests.put(current.key, (attempt, number))
        elif current.message.kind in {Kind.RESULT, Kind.ERROR}:
            request = self._requests.pop(current.key)
            # After an error, or without a response, the client may retry again.
            if request is not None and current.message.kind is Kind.RESULT:
                self._close(current, *request)

    def _close(self, current: SessionMessage, attempt: _Attempt, number: int) -> None:
        """Remove the retried result; store the current one if it requests input."""
        outstanding = self._results.get(attempt.subject) or []
        outstanding[:] = [result for result in outstanding if result.number != number]
        if current.result.get("resultType") == "input_required":
            self._store(current, attempt)

    def _store(self, current: SessionMessage, attempt: _Attempt) -> None:
        state = current.result.get("requestState")
        requests = current.result.get("inputRequests")
        self._count += 1
        inputs = _read_inputs(requests) if isinstance(requests, dict) else {}
        result = _InputRequired(
            self._count,
            attempt,
            None if not isinstance(state, str) else key_of(state),
            inputs,
            _INPUT_BYTES * (1 + len(inputs)) + sum(map(_weigh_input, inputs.items())),
        )
        earlier_results = self._results.pop(attempt.subject) or []
        # Several concurrent requests may need the same input.
        outstanding = [*earlier_results[1 - _MAX_RESULTS :], result]
        self._results.put(attempt.subject, outstanding, sum(item.weight for item in outstanding))

    def _check_retry(self, current: SessionMessage, attempt: _Attempt, report: Reporter) -> int:
        """Check a retry, and return the number of the result that it retries."""
        outstanding = self._results.get(attempt.subject)
        if not outstanding:
            if not self._results.has_evicted:
                name = "inputResponses" if "inputResponses" in current.params else "requestState"
                message = "no result requested input for this request"
                report(RETRY_UNASKED, Fault(("params", name), message))
            return 0
        request_state = current.params.get("requestState")
        state = key_of(request_state) if isinstance(request_state, str) else None
        results = [result for result in outstanding if result.state == state]
        if not results:
            results = outstanding
            # The schema reports a state that is not a string.
            if "requestState" not in current.params or isinstance(request_state, str):
                report(RETRY_STATE_CHANGED, _build_state_fault(current.params))
        elif attempt.arguments is not None and all(
            result.attempt.arguments not in {None, attempt.arguments} for result in results
        ):
            report(RETRY_ARGUMENTS_CHANGED, _build_arguments_fault(current.params))
        responses = current.params.get("inputResponses", {})
        results = _select_retried(results, attempt, responses)
        if all(result.attempt.key == attempt.key for result in results):
            message = "the request whose result requested input has this id"
            report(RETRY_ID_REUSED, Fault(("id",), message))
        # If the candidates request different inputs, any of them may be the retried result.
        if all(result.inputs == results[0].inputs for result in results):
            _check_responses(responses, results[0].inputs, report)
        return results[-1].number


def _select_retried(
    results: list[_InputRequired], attempt: _Attempt, responses: Any
) -> list[_InputRequired]:
    """Return the *results* that the retry *attempt* with *responses* fits best."""
    equal_arguments = [
        result for result in results if result.attempt.arguments == attempt.arguments
    ]
    results = equal_arguments or results
    names = (responses if isinstance(responses, dict) else {}).keys()
    return [result for result in results if result.inputs.keys() <= names] or results


def _check_responses(responses: Any, inputs: dict[str, Input], report: Reporter) -> None:
    if not isinstance(responses, dict):
        return
    missing_names = [name for name in inputs if name not in responses]
    if missing_names:
        path = _RESPONSES if responses else ("params",)
        names = ", ".join(repr(name[:64]) for name in missing_names[:5])
        report(RETRY_INPUT_MISSING, Fault(path, f"missing responses for {names}"))
    for name, input_ in inputs.items():
        response = responses.get(name)
        if isinstance(response, dict):
            check_response(name, response, input_, report)


def _read_inputs(requests: dict[str, Any]) -> dict[str, Input]:
    first_requests = list(requests.items())[:_MAX_INPUTS]
    return {
        name: read_input(request) for name, request in first_requests if isinstance(request, dict)
    }


def _weigh_input(entry: tuple[str, Input]) -> int:
    name, input_ = entry
    return 4 * len(name) + len(input_.params)


def _digest_arguments(arguments: Any) -> bytes:
    """Return a digest of *arguments*; b"" if they are missing or empty."""
    if not arguments:
        return b""
    return digest_of(arguments)


def _build_arguments_fault(params: dict[str, Any]) -> Fault:
    message = "expected the arguments of the request whose result requested input"
    return Fault(("params", "arguments") if "arguments" in params else ("params",), message)


def _build_state_fault(params: dict[str, Any]) -> Fault:
    if "requestState" in params:
        message = "expected the requestState of a result that requested input"
        return Fault(("params", "requestState"), message)
    return Fault(("params",), "missing the requestState of the result that requested input")


_MAX_ELICITATIONS = 10_000
_NO_ID = key_of(None)
"""Key of elicitations without an id. The schema reports the missing id."""
_MAX_ELICITATIONS_OF_ERROR = 100


class Elicitations:
    """Ids of URL elicitations, whose completion is a notification (2025-11-25)."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        self._started: BoundedStore[bool] = BoundedStore(_MAX_ELICITATIONS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store the id of an elicitation, and check the id of a completion."""
        if not ELICITATION_ID_UNKNOWN.holds_in(current.version):
            return
        method = current.message.method
        match current.message.kind:
            case Kind.REQUEST if method == "elicitation/create":
                self._start(current.params)
            case Kind.ERROR:
                for elicitation in _list_required_elicitations(current.message.value):
                    self._start(elicitation)
            case Kind.NOTIFICATION if method == "notifications/elicitation/complete":
                id_ = current.params.get("elicitationId")
                unknown = (
                    isinstance(id_, str)
                    and key_of(id_) not in self._started
                    and _NO_ID not in self._started
                )
                if unknown and not self._started.has_evicted:
                    message = "no elicitation of this session has this id"
                    report(ELICITATION_ID_UNKNOWN, Fault(("params", "elicitationId"), message))

    def _start(self, elicitation: Any) -> None:
        if not isinstance(elicitation, dict):
            return
        id_ = elicitation.get("elicitationId")
        if isinstance(id_, str):
            self._started.put(key_of(id_), value=True)
        elif "url" in elicitation:
            self._started.put(_NO_ID, value=True)


def _list_required_elicitations(response: Any) -> Iterator[Any]:
    """Yield the elicitations of a URLElicitationRequiredError."""
    error = response.get("error") if isinstance(response, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    elicitations = data.get("elicitations") if isinstance(data, dict) else None
    if isinstance(elicitations, list):
        yield from elicitations[:_MAX_ELICITATIONS_OF_ERROR]
