"""Converters without workers: what takes long is done here, and remembered."""

import json
from typing import Any

from sidecheck_server.core.compiler.compilation import Artifact, compile_source
from sidecheck_server.core.convert.converted_tool import ConvertedTool, ToolForm
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import read_tool
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.services.conversion import Conversions, ToolsToConvert, ToolToConvert
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, Target
from sidecheck_server.services.validation import Validator

__all__ = ["LongWork", "asked", "converted", "inline", "told", "tool", "validator_of"]

CHAT = PROVIDERS[ModelApi.OPENAI_CHAT]
CLOSED: Any = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": CLOSED, **more}


def inline(tool: Any, *documents: Document) -> InlineTool:
    """Return a definition that is sent along."""
    text = tool if isinstance(tool, bytes) else json.dumps(tool).encode()
    return InlineTool(text, documents)


class LongWork:
    """Converts in place of a worker."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        #: The names of the tools that were converted.
        self.done: list[str] = []

    async def __call__(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
    ) -> ToolForm:
        tool = read_tool(text, documents, self._limits)
        self.done.append(tool.name)
        return convert_definition(tool, PROVIDERS[api], options, self._limits)


def validator_of(
    registry: Registry, limits: Limits, report_only: frozenset[str] = frozenset()
) -> Validator:
    """Return a validator of the tools in *registry*."""

    async def compile_(source: SchemaSource, begun: Any) -> Artifact:
        begun()
        return compile_source(source, limits)

    async def judge_(compiled: Any, payload: bytes, how: Any) -> Verdict:
        return judge(compiled, payload, how)

    schemas = CompiledSchemas(compile_, limits, 100, 100)
    return Validator(registry, schemas, judge_, limits, report_only)


def asked(*targets: Target | RequestError, api: Any = CHAT, **more: Any) -> ToolsToConvert:
    tools = tuple(ToolToConvert(target) for target in targets)
    given = {"options": ConversionOptions(), "tools": tools, **more}
    return ToolsToConvert(api, **given)


def told(done: Conversions) -> list[tuple[str, str, str]]:
    """Return the server and name of each tool, and its name in the API or why it has none."""
    return [
        (
            one.server,
            one.name,
            one.outcome.reason.value if isinstance(one.outcome, RequestError) else one.outcome.name,
        )
        for one in done.tools
    ]


def converted(done: Conversions) -> list[ConvertedTool]:
    return [one.outcome for one in done.tools if isinstance(one.outcome, ConvertedTool)]
