"""The links of the chain over the wire: a server, called by the Python client."""

import json
from collections.abc import Sequence
from typing import Any

import sidecheck
from chain.links import Converted
from sidecheck import (
    ConversionOptions,
    ConvertedTool,
    Options,
    ProtocolContext,
    RegisteredTool,
    ToolDefinition,
    Verdict,
)

__all__ = ["OverTheWire"]


class OverTheWire:
    """Links that call a server."""

    def __init__(self, client: sidecheck.Client) -> None:
        self._client = client

    async def check(self, tools: Sequence[bytes], version: str) -> list[Any]:
        return await self._check(version, definitions=list(map(ToolDefinition, tools)))

    async def check_listed(self, tools: Sequence[bytes], version: str) -> list[Any]:
        return await self._check(version, tools_list=b"[" + b",".join(tools) + b"]")

    async def _check(self, version: str, **tools: Any) -> list[Any]:
        context = ProtocolContext(protocol_version=version)
        checked = await self._client.protocol.check_tools(**tools, context=context)
        assert _errors(checked.tools_list_verdict) == []
        return [
            (outcome.name, *_errors(outcome.verdict))
            for outcome in checked.outcomes
            if not outcome.verdict.valid
        ]

    async def register(self, tools: Sequence[bytes], server: str, version: str) -> list[Any]:
        definitions = list(map(ToolDefinition, tools))
        registered = await self._client.register(server, definitions, protocol_version=version)
        return [outcome for outcome in registered.outcomes if outcome.action == "rejected"]

    async def list_tools(self, server: str) -> dict[str, bytes]:
        return {tool.name: tool.json async for tool in self._client.list(server)}

    async def adapt(self, tool: bytes, version: str) -> bytes:
        adapted = await self._client.inference.adapt_tool(ToolDefinition(tool), version)
        return adapted.json

    async def validate(self, server: str, name: str, arguments: bytes) -> list[Any]:
        return _errors(await self._client.validate(RegisteredTool(server, name), arguments))

    async def validate_result(self, server: str, name: str, result: bytes) -> list[Any]:
        target = RegisteredTool(server, name)
        return _errors(await self._client.validate_call_result(target, result))

    async def validate_inline(self, tool: bytes, result: bytes, version: str) -> list[Any]:
        verdict = await self._client.validate_call_result(
            ToolDefinition(tool), result, options=Options(protocol_version=version)
        )
        return _errors(verdict)

    async def normalize(self, server: str, name: str, value: bytes) -> tuple[bytes, list[Any]]:
        normalized = await self._client.protocol.normalize_tool_result(
            json.loads(value), tool=RegisteredTool(server, name)
        )
        return normalized.result, _errors(normalized.verdict)

    async def convert(self, server: str, name: str, api: str, mode: str) -> Converted | None:
        options = ConversionOptions(mode=sidecheck.ConversionMode(mode))
        converted = await self._client.conversion.convert_tools(
            sidecheck.ModelApi(api), [RegisteredTool(server, name)], options=options
        )
        (conversion,) = converted.conversions
        outcome = conversion.outcome
        if isinstance(outcome, ConvertedTool):
            return Converted(outcome.name, bytes(outcome.mapping))
        if outcome.reason != "NOT_CONVERTIBLE":
            raise outcome
        return None

    async def convert_call(self, call: bytes, mapping: bytes) -> tuple[Any, list[Any]]:
        converted = await self._client.conversion.convert_tool_call(call, mapping)
        return converted.call_params.value, _errors(converted.verdict)


def _errors(verdict: Verdict) -> list[Any]:
    return [violation for violation in verdict.violations if violation.severity == "error"]
