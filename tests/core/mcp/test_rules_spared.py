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
_values: st.SearchStrategy[Any] = (
    st.none()
    | st.text(max_size=3)
    | st.builds(dict, name=st.text(max_size=3) | st.from_regex(r"[\w./:-]{1,140}", fullmatch=True))
    | st.builds(dict, code=st.integers(-33000, -31000) | st.floats(-33000, -31000))
    | st.dictionaries(_keys | st.text(max_size=3), st.none() | st.text(max_size=3), max_size=4)
)


@pytest.mark.parametrize("rule", _SPARED, ids=lambda rule: rule.code)
@given(value=_values, version=st.sampled_from(VERSIONS))
def test_a_rule_has_nothing_to_say_of_what_it_is_spared(
    rule: Rule, value: Any, version: str
) -> None:
    assert rule.spares is not None
    assert rule.check is not None
    if rule.spares(value):
        assert list(rule.check(value, Context(version))) == []


def test_the_greater_part_of_values_is_spared() -> None:
    spared = {rule.spares for rule in _SPARED}
    ordinary = ({"name": "look_up-2"}, {"code": -32602}, {"progressToken": 1})
    assert sum(spares(value) for spares in spared if spares for value in ordinary) >= len(ordinary)
