"""What spares a value the checks of rules spares it none that would find anything."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.catalogue import RULES
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.versions import VERSIONS

_SPARED = [rule for rule in RULES if rule.spares is not None]

_keys = st.sampled_from(
    [
        "baggage",
        "com.example/a",
        "dev.mcp/a",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/related-task",
        "progressToken",
        "traceparent",
        "tracestate",
    ]
)
_texts = st.sampled_from(["", "a", "b", "date", "Your card number", "https://a.example", "PIN no."])
_fields: st.SearchStrategy[Any] = st.none() | st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "number", "integer", "boolean", "array", []])},
    optional={
        "title": _texts,
        "description": _texts | st.none(),
        "format": _texts,
        "enum": st.lists(_texts | st.just([]), max_size=3),
        "default": _texts | st.booleans(),
        "minLength": st.integers(-1, 2) | st.just(1.5),
        "maxLength": st.integers(-1, 2),
        "minimum": st.integers(-1, 2),
        "maximum": st.floats(-1, 2) | st.booleans(),
        "pattern": _texts,
    },
)
_names = st.sampled_from(["a", "b", "otp", "userPassword2", "keyboard"])
_forms: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"message": _texts | st.just("Please provide your API key.")},
    optional={
        "requestedSchema": st.none()
        | st.fixed_dictionaries(
            {"properties": st.dictionaries(_names, _fields, max_size=3)},
            optional={
                "required": st.lists(_names | st.just({}), max_size=3) | st.just("a"),
                "title": _texts,
            },
        )
    },
)
_blocks: st.SearchStrategy[Any] = st.none() | st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", []])},
    optional={"id": st.sampled_from(["a", "b", 1]), "toolUseId": st.sampled_from(["a", "b", 1])},
)
_turns: st.SearchStrategy[Any] = st.none() | st.fixed_dictionaries(
    {"content": _blocks | st.lists(_blocks, max_size=3)},
    optional={"role": st.sampled_from(["user", "assistant", "system"])},
)
_requests: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"messages": st.none() | st.lists(_turns, max_size=4)},
    optional={
        "maxTokens": st.integers(-1, 1) | st.just(-1.0),
        "includeContext": st.sampled_from(["none", "allServers"]),
        "tools": st.none() | st.lists(st.builds(dict, name=_names), max_size=2),
        "toolChoice": st.builds(dict, mode=st.sampled_from(["auto", "required"])),
    },
)
_values: st.SearchStrategy[Any] = (
    st.none()
    | _fields
    | _forms
    | _turns
    | _requests
    | st.text(max_size=3)
    | st.builds(dict, name=st.text(max_size=3) | st.from_regex(r"[\w./:-]{1,140}", fullmatch=True))
    | st.builds(dict, code=st.integers(-33000, -31000) | st.floats(-33000, -31000))
    | st.dictionaries(_keys | st.text(max_size=3), st.none() | st.text(max_size=3), max_size=4)
)


@pytest.mark.slow
@pytest.mark.parametrize("rule", _SPARED, ids=lambda rule: rule.code)
@given(value=_values, version=st.sampled_from(VERSIONS))
def test_a_rule_has_nothing_to_say_of_what_it_is_spared(
    rule: Rule, value: Any, version: str
) -> None:
    assert rule.spares is not None
    assert rule.check is not None
    if rule.holds_in(version) and rule.spares(value, Context(version)):
        assert list(rule.check(value, Context(version))) == []


def test_the_greater_part_of_values_is_spared() -> None:
    spared = {rule.spares for rule in _SPARED}
    field = {"type": "string", "title": "Name", "maxLength": 80}
    form = {"type": "object", "properties": {"name": field}, "required": ["name"]}
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look_up"}]}
    result = {"role": "user", "content": [{"type": "tool_result", "toolUseId": "a"}]}
    ordinary = (
        {"name": "look_up-2"},
        {"code": -32602},
        {"progressToken": 1},
        field,
        {"type": "string", "enum": ["a", "b"], "default": "b"},
        {"type": "integer", "minimum": 0, "maximum": 9.5},
        {"type": "boolean", "default": True},
        {"message": "Who is it?", "requestedSchema": form},
        {"role": "user", "content": {"type": "text", "text": "Hello"}},
        {"messages": [use, result], "maxTokens": 100, "tools": [{"name": "look_up"}]},
        use,
        result,
    )
    untold = [
        value
        for value in ordinary
        if not any(spares(value, Context()) for spares in spared if spares is not None)
    ]
    assert untold == []
