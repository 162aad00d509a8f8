"""Converters without workers: offloaded work runs in process, and is recorded."""

import json
from typing import Any

from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.convert.converted_tool import ConvertedTool
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import Document
from sidecheck_server.registry import Registry
from sidecheck_server.services.conversion import Conversions, ToolsToConvert, ToolToConvert
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, Target

__all__ = [
    "conversion_request",
    "converted",
    "inline",
    "outcomes",
    "resolver_for",
    "tool",
]

CHAT = PROVIDERS[ModelApi.OPENAI_CHAT]
CLOSED: Any = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": CLOSED, **properties}


def inline(tool: Any, *documents: Document) -> InlineTool:
    """Return an inline definition."""
    text = tool if isinstance(tool, bytes) else json.dumps(tool).encode()
    return InlineTool(text, documents)


def resolver_for(
    registry: Registry, limits: Limits, report_only: frozenset[str] = frozenset()
) -> TargetResolver:
    """Return a resolver of the tools in *registry*."""

    return TargetResolver(
        registry,
        CompiledSchemas(InProcessWorker(limits).run, limits, 1 << 20, 1 << 20),
        ToolAdapter(limits),
        limits,
        report_only,
    )


def conversion_request(
    *targets: Target | RequestError, api: Any = CHAT, **fields: Any
) -> ToolsToConvert:
    tools = tuple(ToolToConvert(target) for target in targets)
    return ToolsToConvert(api, **{"options": ConversionOptions(), "tools": tools, **fields})


def outcomes(conversions: Conversions) -> list[tuple[str, str, str]]:
    """Return the server and name of each tool, and its name in the API or its error."""
    return [
        (
            conversion.server,
            conversion.name,
            conversion.outcome.reason.value
            if isinstance(conversion.outcome, RequestError)
            else conversion.outcome.name,
        )
        for conversion in conversions.tools
    ]


def converted(conversions: Conversions) -> list[ConvertedTool]:
    return [
        conversion.outcome
        for conversion in conversions.tools
        if isinstance(conversion.outcome, ConvertedTool)
    ]
