"""Checks of tool definitions, in a tools/list text or inline."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.mcp.tool_outcomes import Disposition
from sidecheck_server.core.types import Document, Severity
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.services.tools import CheckedTools, ToolsChecker, ToolsToCheck
from sidecheck_server.workers.tasks import CompileSchema, Task, ignore_begin
from support.checkers import checker_of

Result = TypeVar("Result")

LIMITS = Limits(batch_items=100)
DEFAULTS: Any = {"limits": ReportLimits(min_severity=Severity.WARNING)}
GOOD = {"name": "good", "inputSchema": {"type": "object"}}
REFERS = {"name": "refers", "inputSchema": {"type": "object", "$ref": "urn:a"}}
DOCUMENT = Document("urn:a", b"{}")


async def compile_unless_lost(
    task: Task[Result], on_begin: Callable[[], None] = ignore_begin
) -> Result:
    """Compile a schema, or fail like a crashed worker if it contains "lost"."""
    if b"lost" in source_of(task):
        raise RequestError(ErrorReason.WORKER_CRASHED, "died")
    return task.execute(LIMITS)


def source_of(task: Task[Any]) -> bytes:
    assert isinstance(task, CompileSchema)
    return task.source.json


async def checked(tools_list: Any = None, **more: Any) -> CheckedTools:
    schemas = CompiledSchemas(compile_unless_lost, LIMITS, 0, 1 << 20)
    text = b"" if tools_list is None else json.dumps(tools_list).encode()
    return await ToolsChecker(checker_of(schemas), LIMITS).check(
        ToolsToCheck(text, **{**DEFAULTS, **more})
    )


def reported(outcome: CheckedTools) -> list[tuple[str, str, Disposition, list[str]]]:
    return [
        (
            tool_outcome.name,
            tool_outcome.pointer,
            tool_outcome.disposition,
            [violation.code for violation in tool_outcome.verdict.violations],
        )
        for tool_outcome in outcome.outcomes
    ]


async def test_a_tools_list_has_outcomes_and_a_verdict() -> None:
    """The verdict is on the list without its tools, checked as a result of its version."""
    tools_list = {"tools": [GOOD, {"name": "bad"}, GOOD], "nextCursor": 3}
    outcome = await checked({"jsonrpc": "2.0", "id": 1, "result": tools_list})

    duplicate = ["TOOL_NAME_DUPLICATE"]
    assert [
        ("good", "/result/tools/0", Disposition.WARN, duplicate),
        ("bad", "/result/tools/1", Disposition.DROP, ["REQUIRED"]),
        ("good", "/result/tools/2", Disposition.WARN, duplicate),
    ] == reported(outcome)
    assert [("TYPE", "/result/nextCursor")] == [
        (violation.code, violation.instance_location)
        for violation in outcome.tools_list_verdict.violations
    ]


async def test_a_tools_list_of_the_newest_version_needs_a_lifetime() -> None:
    """Lists of the newest version have required caching properties."""
    context = Context(version="2026-07-28")
    outcome = await checked(
        {"tools": [GOOD]}, context=context, limits=ReportLimits(min_severity=Severity.ERROR)
    )

    assert [("good", "/tools/0", Disposition.KEEP, [])] == reported(outcome)
    assert ["REQUIRED"] * 3 == [
        violation.code for violation in outcome.tools_list_verdict.violations
    ]


async def test_documents_belong_to_the_list_or_to_a_tool() -> None:
    """Inline tools have their own documents."""
    listed = await checked([REFERS], documents=(DOCUMENT,))
    text = json.dumps(REFERS).encode()
    inline = await checked(tools=(InlineTool(text), InlineTool(text, (DOCUMENT,))))

    assert [("refers", "/0", Disposition.KEEP, [])] == reported(listed)
    assert [["UNRESOLVABLE_REFERENCE", "TOOL_NAME_DUPLICATE"], ["TOOL_NAME_DUPLICATE"]] == [
        codes for *_, codes in reported(inline)
    ]


async def test_a_tool_with_an_unusable_schema_is_dropped() -> None:
    """Clients should reject it, so the severity and the reported violations do not matter."""
    outcome = await checked([REFERS], limits=ReportLimits(min_severity=Severity.ERROR))
    (violation,) = (await checked([REFERS])).outcomes[0].verdict.violations

    assert [("refers", "/0", Disposition.DROP, [])] == reported(outcome)
    assert ("UNRESOLVABLE_REFERENCE", Severity.WARNING) == (violation.code, violation.severity)


async def test_a_crashed_worker_fails_only_its_tool() -> None:
    """Other tools keep their outcomes."""
    lost = {"name": "lost", "inputSchema": {"type": "object", "title": "lost"}}
    outcome = await checked([GOOD, lost])

    assert [("good", []), ("lost", ["WORKER_CRASHED"])] == [
        (name, codes) for name, _, _, codes in reported(outcome)
    ]


async def test_a_text_without_a_tools_list_has_a_verdict() -> None:
    """There are no outcomes."""
    outcome = await checked({"tools": 3})

    assert () == outcome.outcomes
    assert [("TOOLS_NOT_A_LIST", "/tools")] == [
        (violation.code, violation.instance_location)
        for violation in outcome.tools_list_verdict.violations
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({}, ErrorReason.INVALID_REQUEST, id="nothing"),
        pytest.param(
            {"tools_list": [], "tools": (InlineTool(b"{}"),)},
            ErrorReason.INVALID_REQUEST,
            id="both",
        ),
        pytest.param({"tools_list": [GOOD] * 101}, ErrorReason.LIMIT_EXCEEDED, id="too many"),
    ],
)
async def test_invalid_requests_are_rejected(fields: Any, reason: ErrorReason) -> None:
    """Exactly one of a list and inline tools must be set."""
    with pytest.raises(RequestError) as error:
        await checked(**fields)

    assert reason is error.value.reason
