"""Checks of tool definitions, listed in a text or by themselves."""

import json
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.mcp.tool_outcomes import Disposition
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Severity
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.services.tools import CheckedTools, ToolsChecker, ToolsToCheck
from support.checkers import checker_of

LIMITS = Limits(batch_items=100)
DEFAULTS: Any = {"limits": ReportLimits(min_severity=Severity.WARNING)}
GOOD = {"name": "good", "inputSchema": {"type": "object"}}
REFERS = {"name": "refers", "inputSchema": {"type": "object", "$ref": "urn:a"}}
DOCUMENT = Document("urn:a", b"{}")


async def compile_but_not_that(source: SchemaSource, begun: Any) -> Artifact:
    if b"lost" in source.json:
        raise RequestError(ErrorReason.WORKER_CRASHED, "died")
    return compile_schema(source, LIMITS)


async def checked(tools_list: Any = None, **more: Any) -> CheckedTools:
    schemas = CompiledSchemas(compile_but_not_that, LIMITS, 0, 100)
    text = b"" if tools_list is None else json.dumps(tools_list).encode()
    return await ToolsChecker(checker_of(schemas), LIMITS).check(
        ToolsToCheck(text, **{**DEFAULTS, **more})
    )


def reported(outcome: CheckedTools) -> list[tuple[str, str, Disposition, list[str]]]:
    return [
        (
            entry.name,
            entry.pointer,
            entry.disposition,
            [found.code for found in entry.verdict.violations],
        )
        for entry in outcome.outcomes
    ]


async def test_a_listing_has_an_outcome_for_each_tool_and_one_for_the_rest() -> None:
    """Which is checked as an answer of its version."""
    answer = {"tools": [GOOD, {"name": "bad"}, GOOD], "nextCursor": 3}
    outcome = await checked({"jsonrpc": "2.0", "id": 1, "result": answer})

    twice = ["TOOL_NAME_DUPLICATE"]
    assert [
        ("good", "/result/tools/0", Disposition.WARN, twice),
        ("bad", "/result/tools/1", Disposition.DROP, ["REQUIRED"]),
        ("good", "/result/tools/2", Disposition.WARN, twice),
    ] == reported(outcome)
    assert [("TYPE", "/result/nextCursor")] == [
        (entry.code, entry.instance_location) for entry in outcome.tools_list_verdict.violations
    ]


async def test_a_list_of_the_newest_version_has_a_lifetime() -> None:
    context = Context(version="2026-07-28")
    outcome = await checked(
        {"tools": [GOOD]}, context=context, limits=ReportLimits(min_severity=Severity.ERROR)
    )

    assert [("good", "/tools/0", Disposition.KEEP, [])] == reported(outcome)
    assert ["REQUIRED"] * 3 == [entry.code for entry in outcome.tools_list_verdict.violations]


async def test_documents_are_those_of_the_listing_or_of_each_tool() -> None:
    listed = await checked([REFERS], documents=(DOCUMENT,))
    text = json.dumps(REFERS).encode()
    sent = await checked(tools=(InlineTool(text), InlineTool(text, (DOCUMENT,))))

    assert [("refers", "/0", Disposition.KEEP, [])] == reported(listed)
    assert [["UNRESOLVABLE_REFERENCE", "TOOL_NAME_DUPLICATE"], ["TOOL_NAME_DUPLICATE"]] == [
        codes for *_, codes in reported(sent)
    ]


async def test_a_worker_that_dies_costs_only_its_tool() -> None:
    lost = {"name": "lost", "inputSchema": {"type": "object", "title": "lost"}}
    outcome = await checked([GOOD, lost])

    assert [("good", []), ("lost", ["WORKER_CRASHED"])] == [
        (name, codes) for name, _, _, codes in reported(outcome)
    ]


async def test_a_text_that_lists_no_tools_has_a_verdict() -> None:
    outcome = await checked({"tools": 3})

    assert () == outcome.outcomes
    assert [("TOOLS_NOT_A_LIST", "/tools")] == [
        (entry.code, entry.instance_location) for entry in outcome.tools_list_verdict.violations
    ]


@pytest.mark.parametrize(
    ("asked", "reason"),
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
async def test_what_cannot_be_answered_is_rejected(asked: Any, reason: ErrorReason) -> None:
    with pytest.raises(RequestError) as error:
        await checked(**asked)

    assert reason is error.value.reason
