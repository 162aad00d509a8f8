"""Rules of elicitation and sampling on hostile values: they never raise, and pay for their work."""

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
from sidecheck_server.core.mcp.rules import (
    elicitation,
    elicitation_fields,
    elicitation_results,
    elicitation_urls,
    sampling,
    sampling_history,
    sampling_results,
)
from sidecheck_server.core.mcp.rules.rule import Fault
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
        module.RULES
        for module in (
            elicitation,
            elicitation_fields,
            elicitation_results,
            elicitation_urls,
            sampling,
            sampling_history,
            sampling_results,
        )
    )
)

#: The words of the protocol that steer the rules, so that random values get far.
_STEERING = """
mode form url message requestedSchema properties required type object string number
integer boolean array enum enumNames oneOf anyOf items const title default format email
date uri minLength maxLength minimum maximum minItems maxItems action accept decline
content messages role user assistant tool_use tool_result toolUseId id name input tools
inputSchema toolChoice none maxTokens includeContext thisServer stopReason toolUse endTurn
isError
"""
_WORDS = st.sampled_from(_STEERING.split())
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
    """Draw a value that is nearly right: one of the seeds with some part replaced."""
    value = json.loads(json.dumps(draw(st.sampled_from(_SEEDS))))
    at = value
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return value
        key = draw(st.sampled_from(keys))
        if isinstance(at[key], dict | list) and draw(st.booleans()):
            at = at[key]
            continue
        at[key] = draw(_VALUES)
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
            for found in rule.check(value, context):
                if isinstance(found, Fault):
                    rule.violation(found, version)


def steps_of(value: Any, type_: str) -> int:
    """Return the steps that checking *value* takes."""
    budget = [LIMITS.steps]
    findings = Findings(Context(budget=budget), ReportLimits(20))
    check_value(value, type_, findings, PROTOCOL_SCHEMAS)
    return LIMITS.steps - budget[0]


def _form(properties: Any, **members: Any) -> Any:
    schema = {"type": "object", "properties": properties, **members}
    return {"message": "Please say.", "requestedSchema": schema}


def _history(*messages: Any, **members: Any) -> Any:
    return {"messages": list(messages), "maxTokens": 1, **members}


def _use(index: int) -> Any:
    return {"type": "tool_use", "id": f"id {index}", "name": "t", "input": {"a": [index]}}


def _result(index: int) -> Any:
    return {"type": "tool_result", "toolUseId": f"id {index}", "content": []}


def _said(role: str, *blocks: Any) -> Any:
    return {"role": role, "content": list(blocks)}


def _text() -> Any:
    return {"type": "text", "text": "Hello"}


_FORM, _SAMPLE = "ElicitRequestFormParams", "CreateMessageRequestParams"
_TOOL = {"name": "t", "description": "Wait.", "inputSchema": {"type": "object"}}

#: Hostile values of a size, and the most steps for each of their parts.
_GROWING: dict[str, tuple[str, Callable[[int], Any], int]] = {
    "messages": (_SAMPLE, lambda n: _history(*(_said("user", _text()) for _ in range(n))), 600),
    "blocks": (_SAMPLE, lambda n: _history(_said("user", *(_text() for _ in range(n)))), 400),
    "tool uses": (_SAMPLE, lambda n: _history(_said("assistant", *map(_use, range(n)))), 1000),
    "one tool use again and again": (
        _SAMPLE,
        lambda n: _history(_said("assistant", *(_use(0) for _ in range(n)))),
        1000,
    ),
    "orphans": (_SAMPLE, lambda n: _history(_said("user", *map(_result, range(n)))), 1000),
    "pairs": (
        _SAMPLE,
        lambda n: _history(
            *chain.from_iterable(
                (_said("assistant", _use(i)), _said("user", _result(i))) for i in range(n)
            ),
            tools=[_TOOL],
        ),
        2500,
    ),
    "tools": (_SAMPLE, lambda n: _history(tools=[dict(_TOOL) for _ in range(n)]), 4000),
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


@pytest.mark.parametrize("what", _GROWING)
def test_steps_grow_with_the_value_and_no_faster(what: str) -> None:
    type_, make, most = _GROWING[what]
    steps_of(make(1), type_)
    small, large = steps_of(make(250), type_), steps_of(make(1000), type_)
    assert small < large < 4.2 * small + 5000, (small, large)
    assert large < most * 1000


@pytest.mark.parametrize("what", ["messages", "pairs", "options", "required"])
def test_what_takes_too_long_is_refused(what: str) -> None:
    type_, make, _ = _GROWING[what]
    text = json.dumps(make(3000)).encode()
    subject: Subject = Sampling(text) if type_ == _SAMPLE else Elicitation(text)
    with pytest.raises(RequestError) as excinfo:
        check(CheckRequest(subject), replace(LIMITS, steps=20_000), PROTOCOL_SCHEMAS)
    assert excinfo.value.reason is ErrorReason.LIMIT_EXCEEDED


def test_ten_thousand_messages_are_checked() -> None:
    _, make, _ = _GROWING["pairs"]
    checked = check(
        CheckRequest(Sampling(json.dumps(make(5000)).encode())), LIMITS, PROTOCOL_SCHEMAS
    )
    assert checked.findings.verdict().violations == ()
    assert checked.findings.context.memo == {}
    # The schema of the tool is asked about by itself.
    assert sum(bool(asking.check.value) for asking in checked.findings.pending) == 5000
