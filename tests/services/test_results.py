"""Results of tools: by the rules, and by the output schema of the tool that gave them."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked, check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ResultProfile, ToolResult
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Severity, Verdict
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.protocol_schemas import ProtocolSchemas
from sidecheck_server.services.registration import Registrar, Registration
from sidecheck_server.services.results import ResultChecker
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, RegisteredTool, Target
from sidecheck_server.services.validation import Validator

LIMITS = Limits(inline_bytes=2000)
SURFACES = compile_protocol_schemas(LIMITS)
OUTPUT: Any = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
ADD: Any = {"name": "add", "inputSchema": {"type": "object"}, "outputSchema": OUTPUT}
PING: Any = {"name": "ping", "inputSchema": {"type": "object"}}


def inline(tool: Any) -> InlineTool:
    return InlineTool(json.dumps(tool).encode())


async def compile_here(source: SchemaSource, begun: Callable[[], None]) -> Artifact:
    begun()
    return compile_source(source, LIMITS)


async def judge_here(compiled: CompiledSchema, payload: bytes, how: EvaluationOptions) -> Verdict:
    return judge(compiled, payload, how)


async def check_here(asked: CheckRequest) -> Checked:
    return check(asked, LIMITS, SURFACES)


@pytest.fixture
async def checker() -> AsyncIterator[ResultChecker]:
    """A checker that knows both tools of the server s."""
    registry = open_registry(None)
    schemas = CompiledSchemas(compile_here, LIMITS, 10, 10)
    tools = (inline(ADD), inline(PING))
    surfaces = ProtocolSchemas(compile_here, LIMITS)
    checker = Checker(surfaces, schemas, check_here, judge_here, LIMITS)
    await Registrar(registry, schemas, checker, LIMITS).register(Registration("s", tools))
    yield ResultChecker(checker, Validator(registry, schemas, judge_here, LIMITS))
    registry.close()


def subject(
    content: Any = None, *, profile: ResultProfile = ResultProfile.SPECIFICATION, **more: Any
) -> ToolResult:
    """A result with that structured content, and with its text."""
    result = {"content": [{"type": "text", "text": json.dumps(content)}], **more}
    if content is not None:
        result["structuredContent"] = content
    return ToolResult(json.dumps(result).encode(), profile)


EVERYTHING = ReportLimits()


async def found(
    checker: ResultChecker,
    result: ToolResult,
    target: Target | None,
    how: ReportLimits = EVERYTHING,
    **context: Any,
) -> list[tuple[str, str]]:
    checked = await checker.check(result, target, Context(**context), how)
    assert [] == checked.findings.questions
    verdict = checked.findings.verdict()
    return [(one.instance_location, one.code) for one in verdict.violations]


NAMED = RegisteredTool("s", "add")


@pytest.mark.parametrize(
    ("result", "target", "expected"),
    [
        pytest.param(subject({"sum": 3}), NAMED, [], id="valid"),
        pytest.param(
            subject({"sum": "x"}), NAMED, [("/structuredContent/sum", "TYPE")], id="registered"
        ),
        pytest.param(
            subject({"sum": "x"}), inline(ADD), [("/structuredContent/sum", "TYPE")], id="sent"
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
            id="both are told",
        ),
        pytest.param(
            subject({"sum": "x", "note": "n" * 3000}),
            NAMED,
            [("/structuredContent/sum", "TYPE")],
            id="what takes long",
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
            id="nor leaves out isError",
        ),
    ],
)
async def test_a_result_is_checked_by_rules_and_by_its_tool(
    checker: ResultChecker,
    result: ToolResult,
    target: Target | None,
    expected: list[tuple[str, str]],
) -> None:
    """Pointers lead into the result."""
    assert expected == await found(checker, result, target)


async def test_the_version_decides(checker: ResultChecker) -> None:
    """What is required, and what is known."""
    result = subject({"sum": 3})
    got = [
        await found(checker, result, NAMED, ReportLimits(least=Severity.ERROR), version=version)
        for version in ("2025-03-26", "2025-11-25", "2026-07-28")
    ]

    assert [[], [], [("", "REQUIRED")]] == got


async def test_no_more_is_told_than_is_asked_for(checker: ResultChecker) -> None:
    """By number and by severity."""
    result = ToolResult(b'{"content": [], "structuredContent": {"sum": "x"}, "isError": "x"}')
    one = await found(checker, result, NAMED, ReportLimits(most=1))
    errors = await found(checker, result, NAMED, ReportLimits(least=Severity.ERROR))

    assert [("/isError", "TYPE")] == one
    assert [("/isError", "TYPE"), ("/structuredContent/sum", "TYPE")] == errors


async def test_values_can_be_hidden(checker: ResultChecker) -> None:
    """Those of the output schema's violations too."""
    context = Context(hide_values=True)
    checked = await checker.check(subject({"sum": "hunter2"}), NAMED, context, ReportLimits())

    assert "hunter2" not in str(checked.findings.verdict())


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        pytest.param(RegisteredTool("s", "nobody"), ErrorReason.UNKNOWN_TOOL, id="unknown tool"),
        pytest.param(SchemaSource(b"true"), ErrorReason.INVALID_REQUEST, id="a bare schema"),
        pytest.param(inline({"name": "x"}), ErrorReason.INVALID_TOOL, id="a broken tool"),
    ],
)
async def test_without_its_tool_a_result_is_refused(
    checker: ResultChecker, target: Target, reason: ErrorReason
) -> None:
    """A tool was named, so leaving it out would pass what it refuses."""
    with pytest.raises(RequestError) as caught:
        await checker.check(subject({}), target, Context(), ReportLimits())

    assert reason is caught.value.reason


async def test_workers_are_asked_for_first(checker: ResultChecker) -> None:
    """A refusal of theirs is the answer."""

    def refuse() -> None:
        raise RequestError(ErrorReason.LIMIT_EXCEEDED, "no more")

    large = subject({"sum": 1, "note": "n" * 3000})
    await checker.check(subject({"sum": 1}), NAMED, Context(), ReportLimits(), refuse)
    with pytest.raises(RequestError) as caught:
        await checker.check(large, NAMED, Context(), ReportLimits(), refuse)

    assert "no more" == caught.value.message
