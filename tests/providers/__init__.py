"""Checks of JSON text against the published types of model providers.

A check raises an error if the vendor's package could not send its argument. No package has
types for the contents of schemas.

The packages take seconds to import, so the module of a provider is imported when it is first used.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from sidecheck_server.core.convert.types import ModelApi

__all__ = ["CHECKS", "validate_result", "validate_tool"]


class Checks(NamedTuple):
    """A module of this package, and its functions for tools and for results."""

    module: str
    tool: str = "validate_tool"
    result: str = "validate_result"


CHECKS: Mapping[ModelApi, Checks] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: Checks("openai_types", "validate_chat_tool", "validate_chat_result"),
        ModelApi.OPENAI_RESPONSES: Checks(
            "openai_types", "validate_responses_tool", "validate_responses_result"
        ),
        ModelApi.ANTHROPIC: Checks("anthropic_types"),
        ModelApi.GEMINI: Checks("gemini_types"),
        ModelApi.GEMINI_JSON: Checks("gemini_types"),
        ModelApi.BEDROCK: Checks("bedrock_types"),
        ModelApi.MISTRAL: Checks("mistral_types"),
        ModelApi.OLLAMA: Checks("ollama_types"),
        ModelApi.MCP: Checks("mcp_types"),
    }
)


def validate_tool(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is not a tool of *api* by the types of its vendor."""
    checks = CHECKS[api]
    getattr(import_module(f"providers.{checks.module}"), checks.tool)(text)


def validate_result(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is not a result for *api* by the types of its vendor."""
    checks = CHECKS[api]
    getattr(import_module(f"providers.{checks.module}"), checks.result)(text)
