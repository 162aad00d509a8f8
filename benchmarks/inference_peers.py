"""Inference of tools from functions: Sidecheck's client, FastMCP and the MCP SDK."""

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fastmcp.tools.function_tool import FunctionTool
from mcp.server.mcpserver.tools.base import Tool
from sidecheck.inference import InferenceError, infer_tool, tool_definition

__all__ = ["FASTMCP", "INFERENCES", "SDK", "SIDECHECK", "inferred"]

SIDECHECK = "Sidecheck"
FASTMCP = "FastMCP"
SDK = "mcp"


def _by_sidecheck(function: Callable[..., Any]) -> dict[str, Any]:
    return tool_definition(infer_tool(function))


def _by_fastmcp(function: Callable[..., Any]) -> dict[str, Any]:
    made = FunctionTool.from_function(function)
    return _definition(made.name, made.description, made.parameters, made.output_schema)


def _by_sdk(function: Callable[..., Any]) -> dict[str, Any]:
    made = Tool.from_function(function)
    return _definition(made.name, made.description, made.parameters, made.output_schema)


def _definition(name: str, description: str | None, inputs: Any, outputs: Any) -> dict[str, Any]:
    said = {"name": name, "description": description or "", "inputSchema": inputs}
    return said | ({"outputSchema": outputs} if outputs is not None else {})


INFERENCES: Mapping[str, Callable[[Callable[..., Any]], dict[str, Any]]] = MappingProxyType(
    {SIDECHECK: _by_sidecheck, FASTMCP: _by_fastmcp, SDK: _by_sdk}
)
"""Inference of a tool definition from a function, by contender."""


def inferred(who: str, function: Callable[..., Any]) -> dict[str, Any] | str:
    """Return the definition, or the reason why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return INFERENCES[who](function)
        except InferenceError as error:
            return error.code
        except Exception as error:  # noqa: BLE001  (whatever the others refuse with)
            return type(error).__name__
