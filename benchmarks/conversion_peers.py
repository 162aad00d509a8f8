"""Conversion of MCP tools for OpenAI Chat Completions, by Sidecheck and openai-agents.

 openai-agents makes of a tool of
the MCP SDK what its agents can call, and of that what it sends. In strict mode it rewrites
schemas, or leaves them as they are and the tool non-strict where it cannot.

Sidecheck's are `form_of` with what leads there and from there, as in its server: reading
the definition, names, the plan for the way back; and the same with the form kept, as the
server keeps it.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from agents.mcp import MCPServerStdio, MCPUtil
from agents.models.chatcmpl_converter import Converter
from mcp.types import Tool
from sidecheck import MCPToOpenAIConverter
from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.convert.converted_tool import ToolForm, build_converted_tool
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi, ServerPrefix
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.services.conversion import ConversionCache
from sidecheck_server.services.targets import InlineTool
from subjects import Subject

__all__ = [
    "AGENTS",
    "FROM_BYTES",
    "FROM_VALUE",
    "NON_STRICT",
    "STRICT",
    "UNCACHED",
    "Maker",
    "definition",
    "is_strict",
]

SIDECHECK = "Sidecheck"
LOSSLESS = "Sidecheck, if lossless"
CACHED = "Sidecheck, cached"
CLIENT = "client alone"
AGENTS = "openai-agents"

#: Contenders without a cache, which read and check the whole definition each time.
UNCACHED = frozenset({SIDECHECK, LOSSLESS})

NON_STRICT = "non-strict"
STRICT = "strict"

#: What a contender is given of a tool that has this JSON text, and what converts that to
#: what goes into a request.
Maker: TypeAlias = Callable[[bytes], tuple[Callable[[Any], Any], Any]]

#: Never started: conversion asks it for its name and its policies alone.
_SERVER = MCPServerStdio(params={"command": "none"}, name="bench")


def definition(subject: Subject) -> bytes:
    """Return the JSON text of a tool, as a server would list it."""
    return _text({"description": f"Calls {subject.name}.", **subject.definition})


def is_strict(made: Any) -> bool:
    """Say whether a converted tool, as JSON text or decoded, is a strict one."""
    tool = json.loads(made) if isinstance(made, bytes) else made
    return bool(tool["function"].get("strict"))


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# Sidecheck

_LIMITS = Limits()
_API = PROVIDERS[ModelApi.OPENAI_CHAT]


# As openai-agents does it: objects that do not say so count as closed, and what has no
# strict form stays non-strict.
_IF_LOSSLESS = ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS, assume_closed=True)


def _ours(options: ConversionOptions) -> Maker:
    def convert(text: bytes) -> bytes:
        read = read_tool(text, (), _LIMITS)
        return _tool(convert_definition(read, _API, options, _LIMITS))

    return lambda text: (convert, text)


def _cached(options: ConversionOptions) -> Maker:
    cache = ConversionCache(InProcessWorker(_LIMITS).run, _LIMITS)

    def convert(tool: InlineTool) -> bytes:
        # A cached conversion never waits: its coroutine ends at the first step, and the
        # cost of an event loop is not measured.
        conversion = cache.convert(tool, _API, options)
        try:
            conversion.send(None)
        except StopIteration as result:
            return _tool(result.value)
        raise AssertionError("the tool is not cached")

    def make(text: bytes) -> tuple[Callable[[Any], Any], Any]:
        tool = InlineTool(text)
        asyncio.run(cache.convert(tool, _API, options))
        return convert, tool

    return make


def _tool(form: ToolForm) -> bytes:
    named = ToolName("", form.tool)
    name = assign_tool_names([named], _API.tool_names, ServerPrefix.AUTOMATIC)[0]
    return build_converted_tool(form, named, name, _API).json


# The client's converter


def _client_from_bytes(text: bytes) -> tuple[Callable[[Any], Any], Any]:
    return lambda text: _text(MCPToOpenAIConverter.convert_tool(json.loads(text))), text


def _client_from_value(text: bytes) -> tuple[Callable[[Any], Any], Any]:
    return MCPToOpenAIConverter.convert_tool, json.loads(text)


# openai-agents


def _by_agents(tool: Tool, *, strict: bool) -> Any:
    return Converter.tool_to_openai(MCPUtil.to_function_tool(tool, _SERVER, strict))


def _agents_from_bytes(*, strict: bool) -> Maker:
    def convert(text: bytes) -> bytes:
        return _text(_by_agents(Tool.model_validate_json(text), strict=strict))

    return lambda text: (convert, text)


def _agents_from_value(text: bytes) -> tuple[Callable[[Any], Any], Any]:
    return lambda tool: _by_agents(tool, strict=False), Tool.model_validate_json(text)


FROM_BYTES: Mapping[str, Mapping[str, Maker]] = MappingProxyType(
    {
        NON_STRICT: {
            SIDECHECK: _ours(ConversionOptions()),
            CACHED: _cached(ConversionOptions()),
            CLIENT: _client_from_bytes,
            AGENTS: _agents_from_bytes(strict=False),
        },
        STRICT: {
            SIDECHECK: _ours(ConversionOptions(mode=Mode.STRICT)),
            LOSSLESS: _ours(_IF_LOSSLESS),
            CACHED: _cached(_IF_LOSSLESS),
            AGENTS: _agents_from_bytes(strict=True),
        },
    }
)
"""Who converts in each mode, from the text of a tool to the text that goes into a request."""

FROM_VALUE: Mapping[str, Mapping[str, Maker]] = MappingProxyType(
    {NON_STRICT: {CLIENT: _client_from_value, AGENTS: _agents_from_value}}
)
"""The same, from what is decoded to what is not yet encoded; only these begin there."""
