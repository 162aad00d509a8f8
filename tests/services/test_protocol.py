"""Protocol checks: compiled protocol schemas, deferred checks, offloading."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeVar, cast

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings, PendingCheck
from sidecheck_server.core.mcp.protocol_schemas import NotCompiledError
from sidecheck_server.core.mcp.rules.rule import DeferredCheck
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from sidecheck_server.workers.tasks import CheckSubject, Task, ignore_begin
from support.recorded_tasks import RecordedTasks

Result = TypeVar("Result")

LIMITS = Limits(offloaded_items=3, inline_bytes=1000)
LONG = ToolJson(b'{"name": "%s"}' % (b"n" * 1000))


def protocol_schema_source(version: str, name: str) -> SchemaSource:
    return SchemaSource(
        b'{"$comment": "%s %s", "type": "object"}' % (version.encode(), name.encode())
    )


class Tasks(RecordedTasks):
    """Runs tasks in process; checks have *deferred_checks* of the value at /at."""

    def __init__(self, *deferred_checks: DeferredCheck) -> None:
        super().__init__(LIMITS)
        self.deferred_checks = deferred_checks

    async def __call__(
        self, task: Task[Result], on_begin: Callable[[], None] = ignore_begin
    ) -> Result:
        await asyncio.sleep(0)
        if not isinstance(task, CheckSubject):
            return await super().__call__(task, on_begin)
        findings = Findings(task.request.context, task.request.limits)
        findings.pending += [PendingCheck(("at",), check) for check in self.deferred_checks]
        return cast("Result", CheckReport(findings))


class Checking:
    """A checker whose offloaded checks have *deferred_checks*."""

    def __init__(self, *deferred_checks: DeferredCheck) -> None:
        self.compiler = Tasks(*deferred_checks)
        self.protocol_schemas = ProtocolSchemas(self.compiler, LIMITS, protocol_schema_source)
        self.schemas = CompiledSchemas(self.compiler, LIMITS, 0, 1 << 20)
        self.checker = ProtocolChecker(self.protocol_schemas, self.schemas, self.compiler, LIMITS)

    async def violations(self, request: CheckRequest) -> list[tuple[str, str]]:
        checked = await self.checker.check(request)
        assert checked.findings.pending == []
        verdict = checked.findings.verdict()
        return [(violation.instance_location, violation.code) for violation in verdict.violations]


def deferred_check(schema: Any, *value: Any, **more: Any) -> DeferredCheck:
    return DeferredCheck(schema, ("schema",), tuple(value), ("value",), **more)


async def test_ensured_protocol_schemas_are_available() -> None:
    """Concurrent calls of ensure compile a schema once."""
    protocol_schemas = ProtocolSchemas(compiler := Tasks(), LIMITS, protocol_schema_source)
    with pytest.raises(NotCompiledError) as missing:
        protocol_schemas("2025-11-25", "Tool")
    assert (missing.value.version, missing.value.name) == ("2025-11-25", "Tool")

    await asyncio.gather(*(protocol_schemas.ensure("2025-11-25", "Tool") for _ in range(3)))
    await protocol_schemas.ensure("2025-11-25", "Tool")

    assert protocol_schemas("2025-11-25", "Tool").source == protocol_schema_source(
        "2025-11-25", "Tool"
    )
    assert compiler.compiled == [protocol_schema_source("2025-11-25", "Tool").json]


async def test_a_check_compiles_the_protocol_schema_it_needs_once() -> None:
    """The second check reuses the compiled schema."""
    checking = Checking()
    version = "2025-06-18"
    request = CheckRequest(ToolJson(b"[]"), Context(version=version))
    assert await checking.violations(request) == [("", "TYPE")]
    assert await checking.violations(request) == [("", "TYPE")]
    assert checking.compiler.compiled == [protocol_schema_source(version, "Tool").json]


async def test_texts_beyond_the_payload_limit_are_not_offloaded() -> None:
    """The limit is checked before a worker gets the text."""
    text = b'"%s"' % (b"x" * LIMITS.payload_bytes)
    with pytest.raises(RequestError) as error:
        await Checking().violations(CheckRequest(ToolJson(text * 3)))
    assert error.value.reason is ErrorReason.LIMIT_EXCEEDED


async def test_deferred_checks_are_resolved() -> None:
    """Schema errors are reported unless the check is silent."""
    number = {"type": "number"}
    checking = Checking(
        deferred_check(number, 1),
        deferred_check(number, "one"),
        deferred_check({"type": 5}),
        deferred_check({"type": 5}, silent=True),
    )
    assert await checking.violations(CheckRequest(LONG)) == [
        ("/at/schema/type", "ANY_OF"),
        ("/at/value", "TYPE"),
    ]
    assert sorted(map(json.loads, checking.compiler.compiled), key=str) == [
        {"type": "number"},
        {"type": 5},
    ]


async def test_deferred_checks_apply_the_request_options() -> None:
    """Options hide values and limit the number of violations."""
    checking = Checking(deferred_check({"items": {"type": "null"}}, ["secret", "secret", "secret"]))
    context = Context(hide_values=True)
    checked = await checking.checker.check(
        CheckRequest(LONG, context, ReportLimits(max_violations=2))
    )
    verdict = checked.findings.verdict()
    assert (len(verdict.violations), verdict.truncated) == (2, True)
    assert "secret" not in str(verdict)


async def test_deferred_schemas_are_compiled_once() -> None:
    """The number of distinct schemas is unlimited."""
    many = [deferred_check({"const": number % 90}) for number in range(180)]
    checking = Checking(*many)
    assert await checking.violations(CheckRequest(LONG)) == []
    assert len(checking.compiler.compiled) == 90


async def test_offloaded_values_are_limited() -> None:
    """The limit is offloaded_items."""
    long = deferred_check({"type": "string"}, "x" * 1000)
    assert await Checking(long, long, long).violations(CheckRequest(LONG)) == []
    with pytest.raises(RequestError) as error:
        await Checking(long, long, long, long).violations(CheckRequest(LONG))
    assert error.value.metadata["bound"] == "offloaded_items"
