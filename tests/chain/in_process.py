"""The links of the chain in this process: the services, as the command line runs them."""

import json
from collections.abc import Sequence
from typing import Any

from chain.links import Converted
from sidecheck_server.core.convert.converted_tool import ConvertedTool
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.results.normalize import Value
from sidecheck_server.core.mcp.subjects import ReportLimits, ResultProfile
from sidecheck_server.core.types import Severity, Verdict
from sidecheck_server.services.container import Services
from sidecheck_server.services.conversion import ToolsToConvert, ToolToConvert
from sidecheck_server.services.model_calls import CallToConvert
from sidecheck_server.services.normalization import ValueToNormalize
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.targets import InlineTool, RegisteredTool, SubjectKind, Target
from sidecheck_server.services.tools import ToolsToCheck
from sidecheck_server.services.validation import ValidationOptions

__all__ = ["InProcess"]


class InProcess:
    """Links that call the services."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def check(self, tools: Sequence[bytes], version: str) -> list[Any]:
        definitions = tuple(map(InlineTool, tools))
        return await self._check(ToolsToCheck(tools=definitions, context=Context(version)))

    async def check_listed(self, tools: Sequence[bytes], version: str) -> list[Any]:
        tools_list = b"[" + b",".join(tools) + b"]"
        return await self._check(ToolsToCheck(tools_list=tools_list, context=Context(version)))

    async def _check(self, request: ToolsToCheck) -> list[Any]:
        checked = await self._services.tools_checker.check(request)
        assert _errors(checked.tools_list_verdict) == []
        return [
            (outcome.name, *_errors(outcome.verdict))
            for outcome in checked.outcomes
            if not outcome.ok
        ]

    async def register(self, tools: Sequence[bytes], server: str, version: str) -> list[Any]:
        request = Registration(server, tuple(map(InlineTool, tools)), protocol_version=version)
        registered = await self._services.registrar.register(request)
        return [outcome for outcome in registered.outcomes if outcome.action is None]

    async def list_tools(self, server: str) -> dict[str, bytes]:
        bindings, _ = self._services.registry.page(server, None, 10_000, 1 << 40)
        return {binding.name: binding.definition.json for binding in bindings}

    async def adapt(self, tool: bytes, version: str) -> bytes:
        return (await self._services.adapter.adapt(InlineTool(tool), version)).json

    async def validate(self, server: str, name: str, arguments: bytes) -> list[Any]:
        return await self._validate("arguments", RegisteredTool(server, name), arguments, "")

    async def validate_result(self, server: str, name: str, result: bytes) -> list[Any]:
        return await self._validate("call_result", RegisteredTool(server, name), result, "")

    async def validate_inline(self, tool: bytes, result: bytes, version: str) -> list[Any]:
        return await self._validate("call_result", InlineTool(tool), result, version)

    async def _validate(
        self, kind: SubjectKind, target: Target, payload: bytes, version: str
    ) -> list[Any]:
        options = ValidationOptions(EvaluationOptions(), version)
        prepared = self._services.prepared_targets.add((b"", b""), target, options)
        return _errors((await prepared.validate(kind, payload)).verdict)

    async def normalize(self, server: str, name: str, value: bytes) -> tuple[bytes, list[Any]]:
        request = ValueToNormalize(
            Value(value),
            RegisteredTool(server, name),
            ResultProfile.SPECIFICATION,
            Context(),
            ReportLimits(),
            names_version=False,
        )
        normalized = await self._services.normalizer.normalize(request)
        return normalized.json, _errors(normalized.verdict)

    async def convert(self, server: str, name: str, api: str, mode: str) -> Converted | None:
        tools = (ToolToConvert(RegisteredTool(server, name)),)
        options = ConversionOptions(mode=Mode(mode))
        request = ToolsToConvert(PROVIDERS[ModelApi(api)], options, tools)
        (conversion,) = (await self._services.converter.convert(request)).tools
        outcome = conversion.outcome
        if isinstance(outcome, ConvertedTool):
            return Converted(outcome.name, outcome.mapping)
        if outcome.reason is not ErrorReason.NOT_CONVERTIBLE:
            raise outcome
        return None

    async def convert_call(self, call: bytes, mapping: bytes) -> tuple[Any, list[Any]]:
        options = ValidationOptions(EvaluationOptions(), "")
        request = CallToConvert(call, (mapping,), None, options)
        converted = await self._services.call_converter.convert(request)
        return json.loads(converted.params), _errors(converted.verdict.verdict)


def _errors(verdict: Verdict) -> list[Any]:
    return [violation for violation in verdict.violations if violation.severity is Severity.ERROR]
