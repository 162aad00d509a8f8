"""Robustness and step limits of the elicitation and sampling rules on hostile values."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import check_value
from sidecheck_server.core.mcp.rules.catalogue import GROUPS
from sidecheck_server.core.mcp.rules.rule import Fault, Group
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    Elicitation,
    ReportLimits,
    Sampling,
    Subject,
)
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS

_RULES = tuple(
    chain.from_iterable(
        GROUPS[group]
        for group in (
            Group.ELICITATION_REQUESTS,
            Group.ELICITATION_FIELDS,
            Group.ELICITATION_RESULTS,
            Group.ELICITATION_URLS,
            Group.SAMPLING_REQUESTS,
            Group.SAMPLING_HISTORY,
            Group.SAMPLING_RESULTS,
        )
    )
)

#: Protocol words that rules branch on, so that random values reach deep code paths.
_PROTOCOL_WORDS = """
mode form url message requestedSchema properties required type object string number
integer boolean array enum enumNames oneOf anyOf items const title default format email
date uri minLength maxLength minimum maximum minItems maxItems action accept decline
content messages role user assistant tool_use tool_result toolUseId id name input tools
inputSchema toolChoice none maxTokens includeContext thisServer stopReason toolUse endTurn
isError
"""
_WORDS = st.sampled_from(_PROTOCOL_WORDS.split())
_SCALARS = st.one_of(
    _WORDS,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(_WORDS, st.text()), inner)
    ),
    max_leaves=25,
)

_SEEDS: list[Any] = [
    {"mode": "url", "url": "https://a@xn--x/?password=1"},
    {"requestedSchema": {"properties": {"f": {"type": "string"}}, "required": ["g", "g"]}},
    {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
    {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "default": ["a"]},
    {"messages": [{"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "t"}]}]},
    {"role": "user", "content": {"type": "tool_result", "toolUseId": "a"}},
    {"action": "accept", "content": {}},
]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """Draw one of the seeds with a random part replaced."""
    value = json.loads(json.dumps(draw(st.sampled_from(_SEEDS))))
    node = value
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return value
        key = draw(st.sampled_from(keys))
        if isinstance(node[key], dict | list) and draw(st.booleans()):
            node = node[key]
            continue
        node[key] = draw(_VALUES)
        return value


@given(
    st.one_of(_VALUES, mutated()), st.sampled_from(VERSIONS), st.one_of(st.none(), _VALUES), _VALUES
)
def test_no_rule_raises(value: Any, version: str, request: Any, declared: Any) -> None:
    capabilities = declared if isinstance(declared, dict) else None
    context = Context(version, client_capabilities=capabilities, request=request)
    for rule in _RULES:
        assert rule.check is not None
        if rule.holds_in(version):
            for finding in rule.check(value, context):
                if isinstance(finding, Fault):
                    rule.violation(finding, version)


def steps_of(value: Any, type_: str) -> int:
    """Return the number of steps that checking *value* takes."""
    budget = [LIMITS.steps]
    findings = Findings(Context(budget=budget), ReportLimits(20))
    check_value(value, type_, findings, PROTOCOL_SCHEMAS)
    return LIMITS.steps - budget[0]


def _form(properties: Any, **keywords: Any) -> Any:
    schema = {"type": "object", "properties": properties, **keywords}
    return {"message": "Please say.", "requestedSchema": schema}


def _sampling_request(*messages: Any, **fields: Any) -> Any:
    return {"messages": list(messages), "maxTokens": 1, **fields}


def _tool_use(index: int) -> Any:
    return {"type": "tool_use", "id": f"id {index}", "name": "t", "input": {"a": [index]}}


def _tool_result(index: int) -> Any:
    return {"type": "tool_result", "toolUseId": f"id {index}", "content": []}


def _message(role: str, *blocks: Any) -> Any:
    return {"role": role, "content": list(blocks)}


def _text() -> Any:
    return {"type": "text", "text": "Hello"}


_FORM, _SAMPLE = "ElicitRequestFormParams", "CreateMessageRequestParams"
_TOOL = {"name": "t", "description": "Wait.", "inputSchema": {"type": "object"}}

#: Type, builder of a value by size, and the limit of steps per part.
_GROWING: dict[str, tuple[str, Callable[[int], Any], int]] = {
    "messages": (
        _SAMPLE,
        lambda n: _sampling_request(*(_message("user", _text()) for _ in range(n))),
        600,
    ),
    "blocks": (
        _SAMPLE,
        lambda n: _sampling_request(_message("user", *(_text() for _ in range(n)))),
        400,
    ),
    "tool uses": (
        _SAMPLE,
        lambda n: _sampling_request(_message("assistant", *map(_tool_use, range(n)))),
        1000,
    ),
    "repeated tool use": (
        _SAMPLE,
        lambda n: _sampling_request(_message("assistant", *(_tool_use(0) for _ in range(n)))),
        1000,
    ),
    "orphans": (
        _SAMPLE,
        lambda n: _sampling_request(_message("user", *map(_tool_result, range(n)))),
        1000,
    ),
    "pairs": (
        _SAMPLE,
        lambda n: _sampling_request(
            *chain.from_iterable(
                (_message("assistant", _tool_use(i)), _message("user", _tool_result(i)))
                for i in range(n)
            ),
            tools=[_TOOL],
        ),
        2500,
    ),
    "tools": (_SAMPLE, lambda n: _sampling_request(tools=[dict(_TOOL) for _ in range(n)]), 4000),
    "options": (
        _FORM,
        lambda n: _form({"f": {"type": "string", "enum": ["a"] * n, "default": "b"}}),
        400,
    ),
    "fields": (_FORM, lambda n: _form({f"token{i}": {"type": "string"} for i in range(n)}), 2000),
    "keywords": (
        _FORM,
        lambda n: _form({"f": {"type": "string", **{f"k{i}": 1 for i in range(n)}}}),
        1000,
    ),
    "required": (_FORM, lambda n: _form({}, required=[f"f{i}" for i in range(n)]), 1000),
    "text": (_FORM, lambda n: _form({}) | {"message": "your " * n}, 100),
}


@pytest.mark.parametrize("name", _GROWING)
def test_steps_grow_linearly_with_the_value(name: str) -> None:
    type_, make, steps_per_part = _GROWING[name]
    steps_of(make(1), type_)
    small, large = steps_of(make(250), type_), steps_of(make(1000), type_)
    assert small < large < 4.2 * small + 5000, (small, large)
    assert large < steps_per_part * 1000


@pytest.mark.parametrize("name", ["messages", "pairs", "options", "required"])
def test_exceeded_step_limit_is_an_error(name: str) -> None:
    type_, make, _ = _GROWING[name]
    text = json.dumps(make(3000)).encode()
    subject: Subject = Sampling(text) if type_ == _SAMPLE else Elicitation(text)
    with pytest.raises(RequestError) as excinfo:
        check(CheckRequest(subject), replace(LIMITS, steps=20_000), PROTOCOL_SCHEMAS)
    assert excinfo.value.reason is ErrorReason.LIMIT_EXCEEDED


def test_ten_thousand_messages_are_checked() -> None:
    _, make, _ = _GROWING["pairs"]
    report = check(
        CheckRequest(Sampling(json.dumps(make(5000)).encode())), LIMITS, PROTOCOL_SCHEMAS
    )
    assert report.findings.verdict().violations == ()
    assert report.findings.context.memo == {}
    # The schema of the tool is one more deferred check, without a value.
    assert sum(bool(deferred.check.value) for deferred in report.findings.pending) == 5000
