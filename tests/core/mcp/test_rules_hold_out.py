"""Rules accept any JSON value, hide values on request, and charge steps for their work."""

from collections.abc import Iterator
from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import check_value
from sidecheck_server.core.mcp.rules.catalogue import RULES
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.subjects import ReportLimits
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS
from support.session_checks import resolve_all_deferred

_SCALARS: tuple[Any, ...] = (None, True, 0, -1.5, 10**400, "", "a", "\n\u0430 ", "x" * 1000)
_CHECKED = [rule for rule in RULES if rule.check is not None]


def mutations_of(value: Any) -> Iterator[Any]:
    """Yield *value*, and copies with one part replaced by another value."""
    yield value
    yield from (*_SCALARS, [], {}, [[]], {"": {}})
    if isinstance(value, dict):
        for key, item in value.items():
            for mutation in mutations_of(item):
                yield {**value, key: mutation}
    if isinstance(value, list):
        for index, item in enumerate(value):
            for mutation in mutations_of(item):
                yield [*value[:index], mutation, *value[index + 1 :]]


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
def test_rule_accepts_any_value(rule: Rule) -> None:
    assert rule.check is not None
    for value in _VALUES:
        for mutation in mutations_of(value):
            list(rule.check(mutation, Context(version=rule.until, budget=[10_000_000])))


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
def test_growing_work_is_charged(code: str, value: Any) -> None:
    (rule,) = (rule for rule in RULES if rule.code == code)
    assert rule.check is not None
    with pytest.raises(Exhausted):
        list(rule.check(value, Context(version=rule.until, budget=[5000])))


def _property(**schema: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": {"a": schema}}}


_SECRET = "geheim"
SECRETS: list[tuple[str, str, Any]] = [
    ("TOOL_NAME_CHARACTERS", "Tool", {"name": "geheim!"}),
    ("TOOL_NAME_BEDROCK", "Tool", {"name": "geheim!"}),
    ("TOOL_NAME_DUPLICATE", "ListToolsResult", {"tools": [{"name": "geheim"}] * 2}),
    ("X_MCP_HEADER_TOKEN", "Tool", _property(**{"x-mcp-header": "geheim?"})),
    ("X_MCP_HEADER_CONTROL", "Tool", _property(**{"x-mcp-header": "geheim\n"})),
    ("X_MCP_HEADER_STRING", "Tool", _property(**{"x-mcp-header": ["geheim"]})),
    ("X_MCP_HEADER_TYPE", "Tool", _property(**{"x-mcp-header": "A", "type": "geheim"})),
    (
        "X_MCP_HEADER_SENSITIVE",
        "Tool",
        {"inputSchema": {"properties": {"geheim_password": {"x-mcp-header": "A"}}}},
    ),
    ("ICON_SCHEME", "Icon", {"src": "geheim:a"}),
    ("ICON_SCHEME", "Icon", {"src": "geheim"}),
    ("ICON_URI", "Icon", {"src": "https:geheim"}),
    ("ICON_DATA", "Icon", {"src": "data:geheim,geheim"}),
    ("ICON_SIZES", "Icon", {"sizes": ["geheim"]}),
    ("ICON_MIME_TYPE", "Icon", {"mimeType": "geheim"}),
    ("IMAGE_DATA", "ImageContent", {"type": "image", "data": "geheim!"}),
    ("IMAGE_MIME_TYPE", "ImageContent", {"type": "image", "mimeType": "geheim"}),
    ("RESOURCE_URI", "Resource", {"uri": "geheim"}),
    ("ANNOTATIONS_LAST_MODIFIED", "Annotations", {"lastModified": "geheim"}),
    ("UNRESOLVABLE_REFERENCE", "Tool", _property(**{"$ref": "#geheim"})),
    ("UNSUPPORTED_DIALECT", "Tool", {"inputSchema": {"$schema": "geheim"}}),
    ("INVALID_PATTERN", "Tool", _property(pattern="(geheim")),
    ("ENUM", "Tool", _property(type="geheim")),
    ("TYPE", "Tool", _property(minLength="geheim")),
]


@pytest.mark.parametrize(("code", "type_", "value"), SECRETS)
def test_hidden_values_are_in_no_message(code: str, type_: str, value: Any) -> None:
    messages_by_hide = {hide: messages(code, type_, value, hide=hide) for hide in (False, True)}
    assert messages_by_hide[True]
    assert len(messages_by_hide[True]) == len(messages_by_hide[False])
    assert _SECRET not in "".join(messages_by_hide[True])


def messages(code: str, type_: str, value: Any, *, hide: bool) -> list[str]:
    findings = Findings(Context(version=VERSIONS[-1], hide_values=hide), ReportLimits(100))
    check_value(value, type_, findings, PROTOCOL_SCHEMAS)
    resolve_all_deferred(CheckReport(findings), LIMITS, EvaluationOptions(hide_values=hide))
    return [
        violation.message + violation.suggestion
        for violation in findings.verdict().violations
        if violation.code == code
    ]
