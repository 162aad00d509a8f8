"""Checks of results by the protocol's rules and the tool's output schema."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ResultProfile, ToolResult
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Severity
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.calls import ResultChecker
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, RegisteredTool, Target
from sidecheck_server.services.validation import Validator
from support.checkers import checker_of, registrar_of, run_in_process

LIMITS = Limits(inline_bytes=2000)
OUTPUT: Any = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
ADD: Any = {"name": "add", "inputSchema": {"type": "object"}, "outputSchema": OUTPUT}
PING: Any = {"name": "ping", "inputSchema": {"type": "object"}}


def inline(tool: Any) -> InlineTool:
    return InlineTool(json.dumps(tool).encode())


@pytest.fixture
async def checker() -> AsyncIterator[ResultChecker]:
    """Yield a checker with both tools of the server "s"."""
    registry = open_registry(None)
    schemas = CompiledSchemas(run_in_process, LIMITS, 1 << 20, 1 << 20)
    tools = (inline(ADD), inline(PING))
    await registrar_of(registry, schemas, LIMITS).register(Registration("s", tools))
    resolver = TargetResolver(registry, schemas, ToolAdapter(LIMITS), LIMITS)
    validator = Validator(run_in_process)
    yield ResultChecker(resolver, validator, checker_of(schemas, LIMITS))
    registry.close()


def subject(
    content: Any = None, *, profile: ResultProfile = ResultProfile.SPECIFICATION, **more: Any
) -> ToolResult:
    """Return a result with *content* as structured content and as text."""
    result = {"content": [{"type": "text", "text": json.dumps(content)}], **more}
    if content is not None:
        result["structuredContent"] = content
    return ToolResult(json.dumps(result).encode(), profile)


UNLIMITED = ReportLimits()


async def violations_of(
    checker: ResultChecker,
    result: ToolResult,
    target: Target | None,
    limits: ReportLimits = UNLIMITED,
    **context: Any,
) -> list[tuple[str, str]]:
    checked = await checker.check(CheckRequest(result, Context(**context), limits), target)
    assert [] == checked.findings.pending
    verdict = checked.findings.verdict()
    return [(violation.instance_location, violation.code) for violation in verdict.violations]


NAMED = RegisteredTool("s", "add")


@pytest.mark.parametrize(
    ("result", "target", "expected"),
    [
        pytest.param(subject({"sum": 3}), NAMED, [], id="valid"),
        pytest.param(
            subject({"sum": "x"}), NAMED, [("/structuredContent/sum", "TYPE")], id="registered"
        ),
        pytest.param(
            subject({"sum": "x"}), inline(ADD), [("/structuredContent/sum", "TYPE")], id="inline"
        ),
        pytest.param(subject(), NAMED, [("", "OUTPUT_MISSING")], id="missing"),
        pytest.param(subject(isError=True), NAMED, [], id="an error"),
        pytest.param(subject({"sum": "x"}), None, [], id="no tool"),
        pytest.param(subject(), None, [], id="no tool and no content"),
        pytest.param(subject({"sum": "x"}), inline(PING), [], id="a tool without output schema"),
        pytest.param(
            subject({"sum": "x"}, isError="no"),
            NAMED,
            [("/isError", "TYPE"), ("/structuredContent/sum", "TYPE")],
            id="rules and schema",
        ),
        pytest.param(
            subject({"sum": "x", "note": "n" * 3000}),
            NAMED,
            [("/structuredContent/sum", "TYPE")],
            id="offloaded",
        ),
        pytest.param(
            subject(isError=False, profile=ResultProfile.TEXT), NAMED, [], id="a text result"
        ),
        pytest.param(
            subject({"sum": 3}, isError=False, profile=ResultProfile.TEXT),
            NAMED,
            [("/structuredContent", "ADDITIONAL_PROPERTIES")],
            id="a text result has no structured content",
        ),
        pytest.param(
            subject(profile=ResultProfile.TEXT),
            NAMED,
            [("", "REQUIRED")],
            id="a text result requires isError",
        ),
    ],
)
async def test_a_result_is_checked_by_rules_and_by_its_tool(
    checker: ResultChecker,
    result: ToolResult,
    target: Target | None,
    expected: list[tuple[str, str]],
) -> None:
    """Locations are relative to the result."""
    assert expected == await violations_of(checker, result, target)


async def test_rules_depend_on_the_protocol_version(checker: ResultChecker) -> None:
    """Required properties differ between versions."""
    result = subject({"sum": 3})
    results = [
        await violations_of(
            checker, result, NAMED, ReportLimits(min_severity=Severity.ERROR), version=version
        )
        for version in ("2025-03-26", "2025-11-25", "2026-07-28")
    ]

    assert [[], [], [("", "REQUIRED")]] == results


async def test_violations_are_limited(checker: ResultChecker) -> None:
    """Violations are limited by number and by severity."""
    result = ToolResult(b'{"content": [], "structuredContent": {"sum": "x"}, "isError": "x"}')
    first = await violations_of(checker, result, NAMED, ReportLimits(max_violations=1))
    errors = await violations_of(checker, result, NAMED, ReportLimits(min_severity=Severity.ERROR))

    assert [("/isError", "TYPE")] == first
    assert [("/isError", "TYPE"), ("/structuredContent/sum", "TYPE")] == errors


async def test_values_can_be_hidden(checker: ResultChecker) -> None:
    """Violations of the output schema hide values too."""
    request = CheckRequest(subject({"sum": "hunter2"}), Context(hide_values=True))
    checked = await checker.check(request, NAMED)

    assert "hunter2" not in str(checked.findings.verdict())


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        pytest.param(RegisteredTool("s", "nobody"), ErrorReason.UNKNOWN_TOOL, id="unknown tool"),
        pytest.param(SchemaSource(b"true"), ErrorReason.INVALID_REQUEST, id="a bare schema"),
        pytest.param(inline({"name": "x"}), ErrorReason.INVALID_TOOL, id="a broken tool"),
    ],
)
async def test_a_result_of_an_unresolved_tool_is_rejected(
    checker: ResultChecker, target: Target, reason: ErrorReason
) -> None:
    """Ignoring the named tool would accept what its schema rejects."""
    with pytest.raises(RequestError) as raised:
        await checker.check(CheckRequest(subject({})), target)

    assert reason is raised.value.reason


async def test_offloaded_results_are_counted(checker: ResultChecker) -> None:
    """An error of the counter is raised to the caller."""

    def reject() -> None:
        raise RequestError(ErrorReason.LIMIT_EXCEEDED, "no more")

    large = subject({"sum": 1, "note": "n" * 3000})
    await checker.check(CheckRequest(subject({"sum": 1})), NAMED, reject)
    with pytest.raises(RequestError) as raised:
        await checker.check(CheckRequest(large), NAMED, reject)

    assert "no more" == raised.value.message
