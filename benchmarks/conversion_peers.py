"""Conversion of MCP tools for OpenAI's Chat Completions, ours and that of openai-agents.

This is the one place of the benchmarks that calls them. openai-agents makes of a tool of
the MCP SDK what its agents can call, and of that what it sends. In strict mode it rewrites
schemas, or leaves them as they are and the tool non-strict where it cannot.
"""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from agents.mcp import MCPServerStdio, MCPUtil
from agents.models.chatcmpl_converter import Converter
from mcp.types import Tool
from sidecheck import MCPToOpenAIConverter
from subjects import Subject

__all__ = [
    "AGENTS",
    "CLIENT",
    "FROM_BYTES",
    "FROM_VALUE",
    "NON_STRICT",
    "STRICT",
    "Maker",
    "definition",
    "is_strict",
]

CLIENT = "client alone"
AGENTS = "openai-agents"

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
        NON_STRICT: {CLIENT: _client_from_bytes, AGENTS: _agents_from_bytes(strict=False)},
        STRICT: {AGENTS: _agents_from_bytes(strict=True)},
    }
)
"""Who converts in each mode, from the text of a tool to the text that goes into a request."""

FROM_VALUE: Mapping[str, Mapping[str, Maker]] = MappingProxyType(
    {NON_STRICT: {CLIENT: _client_from_value, AGENTS: _agents_from_value}}
)
"""The same, from what is decoded to what is not yet encoded; only these begin there."""
