"""Protocol checks: compiled protocol schemas, deferred checks, offloading."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings, PendingCheck
from sidecheck_server.core.mcp.protocol_schemas import NotCompiledError
from sidecheck_server.core.mcp.rules.rule import DeferredCheck
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas

LIMITS = Limits(offloaded_items=3, inline_bytes=1000)
LONG = ToolJson(b'{"name": "%s"}' % (b"n" * 1000))


class Compiler:
    """Compiles here and remembers what."""

    def __init__(self) -> None:
        self.compiled: list[bytes] = []

    async def __call__(self, source: SchemaSource, begun: Callable[[], None]) -> Artifact:
        begun()
        self.compiled.append(source.json)
        await asyncio.sleep(0)
        return compile_schema(source, LIMITS)


def surface_source(version: str, name: str) -> SchemaSource:
    return SchemaSource(
        b'{"$comment": "%s %s", "type": "object"}' % (version.encode(), name.encode())
    )


async def validate_in_process(
    compiled: CompiledSchema, payload: bytes, how: EvaluationOptions
) -> Verdict:
    return evaluate(compiled, payload, how)


def asking(*deferred_checks: DeferredCheck) -> Callable[[CheckRequest], Any]:
    """Return what checks at length by asking *questions* of the value at /at."""

    async def check_long(request_for: CheckRequest) -> CheckReport:
        findings = Findings(request_for.context, request_for.limits)
        findings.pending += [
            PendingCheck(("at",), deferred_check) for deferred_check in deferred_checks
        ]
        return CheckReport(findings)

    return check_long


class Checking:
    """A checker whose checks at length ask *questions*."""

    def __init__(self, *deferred_checks: DeferredCheck) -> None:
        self.compiler = Compiler()
        self.surfaces = ProtocolSchemas(self.compiler, LIMITS, surface_source)
        self.schemas = CompiledSchemas(self.compiler, LIMITS, 0, 100)
        self.checker = ProtocolChecker(
            self.surfaces, self.schemas, asking(*deferred_checks), validate_in_process, LIMITS
        )

    async def found(self, request_for: CheckRequest) -> list[tuple[str, str]]:
        checked = await self.checker.check(request_for)
        assert checked.findings.pending == []
        return [(one.instance_location, one.code) for one in checked.findings.verdict().violations]


def deferred_check(schema: Any, *value: Any, **more: Any) -> DeferredCheck:
    return DeferredCheck(schema, ("schema",), tuple(value), ("value",), **more)


async def test_a_protocol_schema_is_there_once_it_was_ensured() -> None:
    surfaces = ProtocolSchemas(compiler := Compiler(), LIMITS, surface_source)
    with pytest.raises(NotCompiledError) as missing:
        surfaces("2025-11-25", "Tool")
    assert (missing.value.version, missing.value.name) == ("2025-11-25", "Tool")

    await asyncio.gather(*(surfaces.ensure("2025-11-25", "Tool") for _ in range(3)))
    await surfaces.ensure("2025-11-25", "Tool")

    assert surfaces("2025-11-25", "Tool").source == surface_source("2025-11-25", "Tool")
    assert compiler.compiled == [surface_source("2025-11-25", "Tool").json]


async def test_a_check_compiles_the_protocol_schema_it_needs_once() -> None:
    checking = Checking()
    version = "2025-06-18"
    request_for = CheckRequest(ToolJson(b"[]"), Context(version=version))
    assert await checking.found(request_for) == [("", "TYPE")]
    assert await checking.found(request_for) == [("", "TYPE")]
    assert checking.compiler.compiled == [surface_source(version, "Tool").json]


async def test_what_is_larger_than_any_payload_is_rejected_before_a_worker_gets_it() -> None:
    text = b'"%s"' % (b"x" * LIMITS.payload_bytes)
    with pytest.raises(RequestError) as error:
        await Checking().found(CheckRequest(ToolJson(text * 3)))
    assert error.value.reason is ErrorReason.LIMIT_EXCEEDED


async def test_the_questions_of_a_long_check_are_answered() -> None:
    number = {"type": "number"}
    checking = Checking(
        deferred_check(number, 1),
        deferred_check(number, "one"),
        deferred_check({"type": 5}),
        deferred_check({"type": 5}, silent=True),
    )
    assert await checking.found(CheckRequest(LONG)) == [
        ("/at/schema/type", "ANY_OF"),
        ("/at/value", "TYPE"),
    ]
    assert sorted(map(json.loads, checking.compiler.compiled), key=str) == [
        {"type": "number"},
        {"type": 5},
    ]


async def test_values_are_hidden_and_counted_as_the_subject_asks() -> None:
    checking = Checking(deferred_check({"items": {"type": "null"}}, ["secret", "secret", "secret"]))
    context = Context(hide_values=True)
    checked = await checking.checker.check(
        CheckRequest(LONG, context, ReportLimits(max_violations=2))
    )
    verdict = checked.findings.verdict()
    assert (len(verdict.violations), verdict.truncated) == (2, True)
    assert "secret" not in str(verdict)


async def test_a_payload_may_bring_any_number_of_schemas_each_compiled_once() -> None:
    many = [deferred_check({"const": number % 90}) for number in range(180)]
    checking = Checking(*many)
    assert await checking.found(CheckRequest(LONG)) == []
    assert len(checking.compiler.compiled) == 90


async def test_values_that_need_a_worker_to_validate_too_often_are_rejected() -> None:
    long = deferred_check({"type": "string"}, "x" * 1000)
    assert await Checking(long, long, long).found(CheckRequest(LONG)) == []
    with pytest.raises(RequestError) as error:
        await Checking(long, long, long, long).found(CheckRequest(LONG))
    assert error.value.metadata["bound"] == "offloaded_items"
