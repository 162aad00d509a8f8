"""Functions that are tools, for those who take definitions.

`sidecheck.inference` makes them; this module needs nothing that is optional.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from sidecheck.targets import ToolDefinition, ToolJson

__all__ = ["ATTRIBUTE", "Registrable", "definition_of", "listed"]

#: What a function that is a tool has; it has a ``definition``.
ATTRIBUTE: Final = "__sidecheck_tool__"

#: What is registered as a tool: a definition, or a function that is one.
Registrable = ToolDefinition | ToolJson | Callable[..., Any]


def definition_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the definition of a tool that is a function.

    Raises:
        TypeError: It is no tool.
    """
    tool = getattr(function, ATTRIBUTE, None)
    if tool is None:
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"{name} is a function but no tool: decorate it with @tool() of sidecheck.inference"
        )
    definition: dict[str, Any] = tool.definition
    return definition


def listed(
    tools: Iterable[Registrable] | Callable[..., Any], further: Iterable[Callable[..., Any]]
) -> list[ToolDefinition | ToolJson]:
    """Return the definitions of *tools*, several or one function, and of *further* functions.

    Raises:
        TypeError: One is a function but no tool.
    """
    first: Iterable[Registrable] = [tools] if callable(tools) else tools
    return [definition_of(one) if callable(one) else one for one in (*first, *further)]
