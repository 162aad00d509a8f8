"""Property tests of messages: any JSON gets a verdict, and one fault few violations."""

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.context import VERSIONS, Context, Sender
from sidecheck_server.core.mcp.messages.error_responses import build_error_response
from sidecheck_server.core.mcp.methods import METHODS
from sidecheck_server.core.types import Severity
from support.messages import checked
from support.rule_cases import rule_cases

_METHOD_NAMES = sorted({method.name for method in METHODS})

_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9)
    | st.sampled_from([*_METHOD_NAMES, *VERSIONS, "2.0", "complete", "input_required", "user"])
)
_names = st.text(max_size=5) | st.sampled_from(
    [
        "_meta",
        "arguments",
        "capabilities",
        "code",
        "content",
        "data",
        "extensions",
        "inputRequests",
        "inputResponses",
        "io.modelcontextprotocol/clientCapabilities",
        "message",
        "messages",
        "method",
        "name",
        "params",
        "requestedSchema",
        "resultType",
        "role",
        "task",
        "tools",
        "traceparent",
        "type",
        "uri",
    ]
)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=5),
    max_leaves=12,
)
_messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | _scalars,
        "id": st.integers() | _scalars,
        "method": st.sampled_from(_METHOD_NAMES) | _json,
        "params": st.dictionaries(_names, _json, max_size=5) | _json,
        "result": st.dictionaries(_names, _json, max_size=5) | _json,
        "error": st.dictionaries(_names, _json, max_size=4) | _json,
    },
)
_capabilities = st.none() | st.dictionaries(
    st.sampled_from(["tools", "resources", "elicitation", "extensions", "experimental", "tasks"]),
    _json,
    max_size=3,
)
_contexts = st.builds(
    Context,
    version=st.sampled_from(VERSIONS),
    sender=st.none() | st.sampled_from(list(Sender)),
    client_capabilities=_capabilities,
    server_capabilities=_capabilities,
    request=_json,
    hide_values=st.booleans(),
)


@pytest.mark.slow
@given(
    _messages | st.lists(_messages, max_size=4) | _json,
    _contexts,
    st.sampled_from(["", *_METHOD_NAMES]),
)
@example({"jsonrpc": "2.0", "id": 1e300, "method": "ping"}, Context(), "")
@example({"jsonrpc": "2.0", "id": -(2**80), "error": {"code": 1e19}}, Context(), "ping")
def test_any_json_gets_a_verdict(value: Any, context: Context, answers: str) -> None:
    try:
        report = checked(value, context.version, answers=answers, context=context)
    except RequestError:
        return
    response = build_error_response(report.messages, report.findings.verdict(), context.version)
    assert response == b"" or report.findings.has_errors


# A null id is a second fault unless the message is an error response.
_MAX_VIOLATIONS = 2

_VALID_MESSAGES = [
    (case.value, case.version, str(case.fields.get("answers", "")))
    for case in rule_cases("message")
    if not case.at
    and case.file in {"caching", "capabilities", "envelope", "errors", "input_required", "methods"}
    and isinstance(case.value, dict)
    and not (_context := case.context).client_capabilities
    and not _context.server_capabilities
]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    inner = [path_ for key, item in items for path_ in _paths(item, (*path, key))]
    return [path, *inner] if path else inner


def _errors(value: Any, version: str, answers: str) -> list[str]:
    violations = checked(value, version, answers=answers).findings.verdict().violations
    return [
        f"{violation.instance_location}: {violation.code}"
        for violation in violations
        if violation.severity is Severity.ERROR
    ]


@given(st.data())
def test_one_fault_gives_few_violations(data: st.DataObject) -> None:
    value, version, answers = data.draw(st.sampled_from(_VALID_MESSAGES))
    if _errors(value, version, answers):
        return
    value = copy.deepcopy(value)
    path_ = data.draw(st.sampled_from(_paths(value)))
    parent = value
    for key in path_[:-1]:
        parent = parent[key]
    if data.draw(st.booleans()):
        del parent[path_[-1]]
    else:
        parent[path_[-1]] = data.draw(_scalars)
    errors = _errors(value, version, answers)
    assert len(errors) <= _MAX_VIOLATIONS, errors
