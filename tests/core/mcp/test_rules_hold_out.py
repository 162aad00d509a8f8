"""Rules take any JSON value, keep hidden what is to be hidden, and pay for their work."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from rule_cases import LIMITS, SURFACES, RuleCase, rule_cases
from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.judge import Judging
from sidecheck_server.core.mcp.answering import answer_all
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.catalogue import RULES
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.subjects import Asked, How

_SCALARS: tuple[Any, ...] = (None, True, 0, -1.5, 10**400, "", "a", "\n\u0430 ", "x" * 1000)
_CHECKED = [rule for rule in RULES if rule.check is not None]


def odd_values(value: Any) -> Iterator[Any]:
    """Yield *value*, and the same with each of its parts replaced by something else."""
    yield value
    yield from (*_SCALARS, [], {}, [[]], {"": {}})
    if isinstance(value, dict):
        for key, member in value.items():
            for odd in odd_values(member):
                yield {**value, key: odd}
    if isinstance(value, list):
        for index, item in enumerate(value):
            for odd in odd_values(item):
                yield [*value[:index], odd, *value[index + 1 :]]


_TOOL: dict[str, Any] = {
    "name": "a",
    "title": "A",
    "description": "b",
    "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"type": "integer", "x-mcp-header": "A", "enum": [1], "maximum": 2}},
        "required": ["a"],
    },
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True, "destructiveHint": True},
    "icons": [{"src": "https://a", "sizes": ["any"], "mimeType": "image/png"}],
}
_VALUES = (
    _TOOL,
    {"tools": [_TOOL, _TOOL]},
    _TOOL["annotations"],
    _TOOL["icons"][0],
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"uri": "a:b", "text": "", "blob": ""},
    {"role": "user", "content": {"type": "resource", "resource": {"uri": "a:b", "text": ""}}},
    {"lastModified": "2025-01-12T15:00:58Z"},
)


@pytest.mark.parametrize("rule", _CHECKED, ids=lambda rule: rule.code)
def test_a_rule_takes_any_value(rule: Rule) -> None:
    assert rule.check is not None
    for value in _VALUES:
        for odd in odd_values(value):
            list(rule.check(odd, Context(version=rule.until, budget=[10_000_000])))


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("TOOL_NAME_DUPLICATE", {"tools": [{"name": "a"}] * 100_000}),
        ("IMAGE_DATA", {"data": "A" * 1_000_000}),
        ("BLOB_DATA", {"blob": "A" * 1_000_000}),
        ("ICON_DATA", {"src": "data:image/png;base64," + "A" * 1_000_000}),
        ("ICON_URI", {"src": "https://a/" + "a" * 1_000_000}),
        ("ICON_SIZES", {"sizes": ["any"] * 10_000}),
        ("RESOURCE_URI", {"uri": "a:" + "a" * 60_000}),
        ("X_MCP_HEADER_TOKEN", {"inputSchema": {"properties": {str(i): {} for i in range(1000)}}}),
        ("X_MCP_HEADER_TOKEN", {"inputSchema": {"x-mcp-header": "a" * 1_000_000}}),
        ("X_MCP_HEADER_RANGE", {
            "inputSchema": {
                "properties": {"a": {"type": "integer", "x-mcp-header": "a", "enum": [1] * 10_000}}
            }
        }),
    ],
)  # fmt: skip
def test_work_that_grows_is_paid_for(code: str, value: Any) -> None:
    (rule,) = (each for each in RULES if each.code == code)
    assert rule.check is not None
    with pytest.raises(Exhausted):
        list(rule.check(value, Context(version=rule.until, budget=[5000])))


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings_in(member)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)


_FILES = ("names", "tools", "headers", "icons", "content", "schema_refusals")
_BROKEN = [case for case in rule_cases("tool", "tool_result") if case.at and case.file in _FILES]


@pytest.mark.parametrize("case", _BROKEN, ids=str)
def test_hidden_values_are_not_told(case: RuleCase) -> None:
    context = Context(version=case.version, hide_values=True)
    checked = check(Asked(case.subject, context, How(most=1000)), LIMITS, SURFACES)
    answer_all(checked, LIMITS, Judging(max_violations=1000, hide_values=True))
    found = [each for each in checked.findings.verdict().violations if each.code == case.code]
    at = case.at[0].rsplit("/", 1)
    value = json.dumps(value_at(case.value, case.at[0]))[1:-1] if len(at) == 2 else ""
    assert [""] * len(case.at) == [each.suggestion for each in found]
    if len(value) > 3 and value not in _SPEC_WORDS:
        assert not [each.message for each in found if value in each.message]


_SPEC_WORDS = {"true"}


def value_at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value
