"""Outcomes of tool definitions that are checked together."""

import json
from typing import Any

import pytest
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.deferred import error_outcome
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.mcp.tool_outcomes import CheckedTool, Disposition, tool_outcomes
from sidecheck_server.core.types import Document, Severity
from support.rule_cases import PROTOCOL_SCHEMAS
from support.session_checks import resolve_all_deferred

LIMITS = Limits()
GOOD: Any = {"name": "good", "description": "Is.", "inputSchema": {"type": "object"}}
DEEP = b"[" * 10_000 + b"]" * 10_000


def checked(
    *tools: Any, limits: ReportLimits | None = None, **context: Any
) -> tuple[CheckedTool, ...]:
    """Return the outcomes of *tools*, values or texts."""
    texts = [tool if isinstance(tool, bytes) else json.dumps(tool).encode() for tool in tools]
    bounds = limits or ReportLimits(min_severity=Severity.WARNING)
    reports = [_report(CheckRequest(ToolJson(text), Context(**context), bounds)) for text in texts]
    pointers = (f"/{index}" for index in range(len(reports)))
    return tuple(tool_outcomes(reports, pointers, "told twice"))


def _report(request: CheckRequest) -> CheckReport:
    try:
        report = check(request, LIMITS, PROTOCOL_SCHEMAS)
        resolve_all_deferred(report, LIMITS, request.evaluation_options)
    except RequestError as error:
        return error_outcome(request, error)
    return report


def codes(tool: CheckedTool) -> list[tuple[str, str]]:
    return [(violation.code, violation.instance_location) for violation in tool.verdict.violations]


@pytest.mark.parametrize(
    ("tool", "name", "disposition", "expected"),
    [
        pytest.param(GOOD, "good", Disposition.KEEP, [], id="valid"),
        pytest.param(
            {**GOOD, "name": "a b"},
            "a b",
            Disposition.WARN,
            [("TOOL_NAME_CHARACTERS", "/name")],
            id="a warning",
        ),
        pytest.param(
            {"name": "a b"},
            "a b",
            Disposition.DROP,
            [("REQUIRED", ""), ("TOOL_NAME_CHARACTERS", "/name")],
            id="an error and a warning",
        ),
        pytest.param(
            {**GOOD, "inputSchema": {"type": "object", "default": 1, "required": 1}},
            "good",
            Disposition.DROP,
            [("TYPE", "/inputSchema/required")],
            id="schema invalid by type and meta-schema",
        ),
        pytest.param(
            {**GOOD, "inputSchema": {"type": "object", "properties": {"a": {"type": "x"}}}},
            "good",
            Disposition.DROP,
            [("ENUM", "/inputSchema/properties/a/type")],
            id="schema invalid by meta-schema",
        ),
        pytest.param([], "", Disposition.DROP, [("TYPE", "")], id="not an object"),
        pytest.param(b"{", "", Disposition.DROP, [("PAYLOAD_NOT_JSON", "")], id="not JSON"),
        pytest.param(
            b'{"name": "' + b"n" * 10_000_000 + b'"}',
            "",
            Disposition.DROP,
            [("LIMIT_EXCEEDED", "")],
            id="10 MB",
        ),
        pytest.param(DEEP, "", Disposition.DROP, [("LIMIT_EXCEEDED", "")], id="10,000 levels deep"),
    ],
)
def test_invalid_tool_leaves_the_others_unaffected(
    tool: Any, name: str, disposition: Disposition, expected: list[tuple[str, str]]
) -> None:
    before, checked_tool, after = checked({**GOOD, "name": "a"}, tool, {**GOOD, "name": "z"})

    assert (name, "/1", disposition, expected) == (
        checked_tool.name,
        checked_tool.pointer,
        checked_tool.disposition,
        codes(checked_tool),
    )
    assert (disposition is not Disposition.DROP) is checked_tool.ok
    assert [("a", "/0"), ("z", "/2")] == [
        (neighbour.name, neighbour.pointer) for neighbour in (before, after)
    ]
    assert [Disposition.KEEP] * 2 == [before.disposition, after.disposition]


def test_size_and_depth_limits_of_a_definition() -> None:
    """A definition may be twice as long as a schema, and slightly deeper."""
    long = {**GOOD, "description": "x" * (2 * LIMITS.schema_bytes - 200)}
    inner: Any = {}
    for _ in range(LIMITS.schema_depth):
        inner = {"a": inner}
    deep = {**GOOD, "_meta": inner}

    assert [Disposition.KEEP] * 2 == [
        tool.disposition for tool in checked(long, {**deep, "name": "d"})
    ]


def test_duplicate_names_are_a_warning_on_every_tool() -> None:
    """Dropped tools count too; a tool without a name has no warning."""
    tools = checked(GOOD, {"name": "good"}, {}, {}, {**GOOD, "name": "b"})

    duplicate = ("TOOL_NAME_DUPLICATE", "/name")
    assert [True, True, False, False, False] == [duplicate in codes(tool) for tool in tools]
    assert [Disposition.WARN, Disposition.DROP] == [tool.disposition for tool in tools[:2]]


def test_disposition_is_independent_of_report_limits() -> None:
    """Violations beyond the limits still count."""
    bad = {"name": "a b", "inputSchema": {"type": "object"}}
    (quiet,) = checked(bad, limits=ReportLimits(min_severity=Severity.ERROR))
    (brief,) = checked({**bad, "outputSchema": 1}, limits=ReportLimits(max_violations=1))

    assert (Disposition.WARN, []) == (quiet.disposition, codes(quiet))
    assert (Disposition.DROP, 1, True) == (
        brief.disposition,
        len(brief.verdict.violations),
        brief.verdict.truncated,
    )


def test_schemas_can_refer_to_documents() -> None:
    tool = {**GOOD, "inputSchema": {"type": "object", "$ref": "urn:a"}}

    assert [("UNRESOLVABLE_REFERENCE", "/inputSchema/$ref")] == codes(*checked(tool))
    assert [] == codes(*checked(tool, documents=(Document("urn:a", b"{}"),)))


def test_hidden_values_of_a_definition() -> None:
    """Schemas are values of their definition."""
    properties = {"a": {"type": "integer", "default": "secret"}}
    unknown_type = {**GOOD, "inputSchema": {"type": "object", "properties": properties}}
    bad_pattern = {**GOOD, "name": "b", "inputSchema": {"type": "object", "pattern": "(?=secret)"}}
    bad_items = {
        **GOOD,
        "name": "c",
        "inputSchema": {"type": "object", "items": {"type": "secret"}},
    }
    tools = checked(unknown_type, bad_pattern, bad_items, hide_values=True)

    assert [["DEFAULT_REFUSED"], ["UNSUPPORTED_PATTERN"], ["ENUM"]] == [
        [code for code, _ in codes(tool)] for tool in tools
    ]
    assert "secret" not in str(
        [violation.message for tool in tools for violation in tool.verdict.violations]
    )
