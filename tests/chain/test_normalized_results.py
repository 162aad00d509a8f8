"""A normalized result is valid against its tool, in every protocol version."""

import json
from typing import Any

import pytest
from chain.corpus import corpus
from chain.functions import FUNCTIONS, SOURCE
from chain.links import Tool
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.results.normalize import Value, WholeResult
from sidecheck_server.core.mcp.subjects import ReportLimits, ResultProfile
from sidecheck_server.core.types import Severity
from sidecheck_server.services.container import Services
from sidecheck_server.services.normalization import ValueToNormalize
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.services.validation import ValidationOptions


async def violations_of(services: Services, tool: Tool, version: str) -> list[Any]:
    """Return the violations of the results for the return value of *tool*."""
    assert tool.returned is not None
    target = InlineTool(tool.json)
    prepared = services.prepared_targets.add(
        (b"", b""), target, ValidationOptions(EvaluationOptions(), version)
    )
    whole = {"content": [], "structuredContent": json.loads(tool.returned)}
    violations: list[Any] = []
    for output in (Value(tool.returned), WholeResult(json.dumps(whole).encode())):
        if isinstance(output, WholeResult) and b"outputSchema" not in tool.json:
            continue
        for profile in ResultProfile:
            request = ValueToNormalize(output, target, profile, Context(version), ReportLimits())
            normalized = await services.normalizer.normalize(request)
            violations += normalized.verdict.violations
            if profile is ResultProfile.SPECIFICATION:
                outcome = await prepared.validate("call_result", normalized.json)
                violations += outcome.verdict.violations
    return [
        (tool.name, version, violation)
        for violation in violations
        if violation.severity is Severity.ERROR
    ]


@pytest.mark.parametrize("version", VERSIONS)
async def test_results_of_inferred_tools(services: Services, version: str) -> None:
    inferred = await services.inferrer.infer(SOURCE, InferenceOptions())
    violations = []
    for tool in inferred.tools:
        payloads = FUNCTIONS[tool.function]
        function = Tool(tool.function, tool.json, *payloads)
        violations += await violations_of(services, function, version)

    assert [] == violations


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
async def test_results_of_tools_of_servers(services: Services, version: str) -> None:
    violations = []
    for tool in corpus():
        if tool.returned is not None:
            violations += await violations_of(services, tool, version)

    assert [] == violations
