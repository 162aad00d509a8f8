"""Functions as tools, for methods that accept definitions.

`sidecheck.inference` creates such functions; this module has no optional dependencies.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from sidecheck.targets import ToolDefinition, ToolJson

__all__ = ["ATTRIBUTE", "Registrable", "definition_of", "definitions_of"]

#: Attribute of a function that is a tool; its value has a ``definition``.
ATTRIBUTE: Final = "__sidecheck_tool__"

#: A tool to register: a definition, or a function that is a tool.
Registrable = ToolDefinition | ToolJson | Callable[..., Any]


def definitions_of(
    tools: Iterable[Registrable] | Callable[..., Any], functions: Iterable[Callable[..., Any]]
) -> list[ToolDefinition | ToolJson]:
    """Return the definitions of *tools*, or of one function, and of *functions*.

    Raises:
        TypeError: A function is not a tool.
    """
    tool_list: Iterable[Registrable] = [tools] if callable(tools) else tools
    return [definition_of(tool) if callable(tool) else tool for tool in (*tool_list, *functions)]


def definition_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the definition of a function that is a tool.

    Raises:
        TypeError: The function is not a tool.
    """
    tool = getattr(function, ATTRIBUTE, None)
    if tool is None:
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"function {name} is not a tool; decorate it with @tool() of sidecheck.inference"
        )
    definition: dict[str, Any] = tool.definition
    return definition
