"""MCP tools as tools of OpenAI's Chat Completions, in process and with nothing but a wrapper.

What is converted here keeps its schema but for ``default``: no server is asked, and
nothing else that the API refuses is mended. The service's conversion does that, for
several APIs, and tells what is lost. This module needs the standard library alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from json import JSONEncoder
from typing import Any, Final

from sidecheck.json_copies import NotJson, copied

__all__ = ["ConversionError", "ConversionFailure", "MCPToOpenAIConverter"]

#: The most characters of a name that a message tells.
_MOST_TOLD: Final = 200
#: The most characters of a default that a description tells.
_MOST_DESCRIBED: Final = 100

_JSON: Final = JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ConversionFailure:
    """A tool that could not be converted, and why."""

    #: Its place in the list that was given, from 0.
    index: int
    #: "" if it has none.
    name: str
    reason: str


class ConversionError(ValueError):
    """Some tools of a list could not be converted.

    ``failures`` names each of them, and ``converted`` holds all others, in their order.
    """

    def __init__(
        self, failures: Iterable[ConversionFailure], converted: Iterable[dict[str, Any]]
    ) -> None:
        self.failures = tuple(failures)
        self.converted = list(converted)
        super().__init__(self.failures, self.converted)

    def __str__(self) -> str:
        of = len(self.failures) + len(self.converted)
        each = (f"[{one.index}] {_called(one.name)}: {one.reason}" for one in self.failures)
        return f"{len(self.failures)} of {of} tools cannot be converted: {'; '.join(each)}"


class MCPToOpenAIConverter:
    """Converts MCP tools to the form in which OpenAI's Chat Completions takes functions.

    ``inputSchema`` becomes ``parameters``, without its defaults; every other keyword
    stays as it is. What is given is never changed, and shares nothing with the result.
    """

    @staticmethod
    def convert_tool(
        mcp_tool: dict[str, Any], *, describe_defaults: bool = False
    ) -> dict[str, Any]:
        """Convert one entry of ``tools/list``, as JSON decodes it.

        The result is ``{"type": "function", "function": {"name", "description",
        "parameters"}}``. MCP lets a tool go without a description, while the API wants
        a string and callers count on the member: a missing or null one becomes "". With
        *describe_defaults*, the description of each schema that had a default tells it.
        A tuple becomes a list, as in any JSON.

        Raises:
            ValueError: ``name`` is no string, ``description`` neither string nor null,
                ``inputSchema`` no object, or it holds what JSON cannot express (RFC 8259):
                other types, names that are no strings, NaN or infinities, itself; or more
                than a million values. It names the tool and the place.
        """
        try:
            return _converted(mcp_tool, describe=describe_defaults)
        except _BadTool as error:
            raise ValueError(f"{_called(_name_of(mcp_tool))}: {error}") from None

    @staticmethod
    def convert_all_tools(
        mcp_tools: Iterable[dict[str, Any]],
        *,
        skip_bad: bool = False,
        describe_defaults: bool = False,
    ) -> list[dict[str, Any]]:
        """Convert each tool as `convert_tool` does, in their order.

        With *skip_bad*, those that cannot be converted are left out.

        Raises:
            ConversionError: Some cannot be converted; it names each of them and has the others.
            TypeError: *mcp_tools* is one object, which may hold the tools, and no list of them.
        """
        if isinstance(mcp_tools, dict):
            raise TypeError("tools are given as a list, not as an object that holds them")
        converted: list[dict[str, Any]] = []
        failures: list[ConversionFailure] = []
        for index, tool in enumerate(mcp_tools):
            try:
                converted.append(_converted(tool, describe=describe_defaults))
            except _BadTool as error:
                failures.append(ConversionFailure(index, _name_of(tool), str(error)))
        if failures and not skip_bad:
            raise ConversionError(failures, converted)
        return converted

    @staticmethod
    def _remove_defaults(schema: dict[str, Any], *, describe: bool = False) -> None:
        """Remove ``default`` from *schema* and from every schema in it, in place.

        What is no schema stays as it is: constants, examples, members of unknown keywords,
        and properties that happen to be called so.
        """
        waiting: list[Any] = [schema]
        seen: set[int] = set()
        while waiting:
            one = waiting.pop()
            if not isinstance(one, dict) or id(one) in seen:
                continue
            seen.add(id(one))
            if "default" in one:
                default = one.pop("default")
                if describe:
                    _describe(one, default)
            for keyword in one.keys() & _POSITIONS.keys():
                waiting += _POSITIONS[keyword](one[keyword])


class _BadTool(ValueError):
    """Why a tool cannot be converted."""


def _converted(tool: object, *, describe: bool) -> dict[str, Any]:
    if not isinstance(tool, dict):
        raise _BadTool(f"a tool is an object, not of type {type(tool).__name__}")
    name, description = tool.get("name"), tool.get("description")
    if not isinstance(name, str):
        raise _BadTool(_wanted(tool, "name", "a string"))
    if not isinstance(description, str | None):
        raise _BadTool(_wanted(tool, "description", "a string"))
    if not isinstance(tool.get("inputSchema"), dict):
        raise _BadTool(_wanted(tool, "inputSchema", "an object"))
    try:
        parameters = copied(tool["inputSchema"], "inputSchema")
    except NotJson as error:
        raise _BadTool(str(error)) from None
    MCPToOpenAIConverter._remove_defaults(parameters, describe=describe)  # noqa: SLF001
    return {
        "type": "function",
        "function": {"name": name, "description": description or "", "parameters": parameters},
    }


def _wanted(tool: dict[str, Any], member: str, what: str) -> str:
    if member in tool:
        return f"/{member} is of type {type(tool[member]).__name__}; {what} is wanted"
    return f"it has no member {member!r}; {what} is wanted"


def _name_of(tool: object) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


def _called(name: str) -> str:
    return f"tool {_cut(name, _MOST_TOLD)!r}" if name else "a tool without a name"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


# Where schemas are


def _one(value: Any) -> Iterable[Any]:
    return (value,)


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()


def _one_or_listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else (value,)


def _named(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else ()


#: The keywords whose values hold schemas, of every dialect since draft 4, with the
#: clause of 2020-12, core if nothing else is said. All other values are data.
_POSITIONS: Final[dict[str, Callable[[Any], Iterable[Any]]]] = {
    "$defs": _named,  # 8.2.4
    "definitions": _named,  # draft 7, validation, 9
    "allOf": _listed,  # 10.2.1.1
    "anyOf": _listed,  # 10.2.1.2
    "oneOf": _listed,  # 10.2.1.3
    "not": _one,  # 10.2.1.4
    "if": _one,  # 10.2.2.1
    "then": _one,  # 10.2.2.2
    "else": _one,  # 10.2.2.3
    "dependentSchemas": _named,  # 10.2.2.4
    "dependencies": _named,  # draft 7, validation, 6.5.7; lists of names beside schemas
    "prefixItems": _listed,  # 10.3.1.1
    "items": _one_or_listed,  # 10.3.1.2; a list in draft 7, validation, 6.4.1
    "additionalItems": _one,  # draft 7, validation, 6.4.2
    "contains": _one,  # 10.3.1.3
    "properties": _named,  # 10.3.2.1
    "patternProperties": _named,  # 10.3.2.2
    "additionalProperties": _one,  # 10.3.2.3
    "propertyNames": _one,  # 10.3.2.4
    "unevaluatedItems": _one,  # 11.2
    "unevaluatedProperties": _one,  # 11.3
    "contentSchema": _one,  # validation, 8.5
}


def _describe(schema: dict[str, Any], default: Any) -> None:
    """Tell *default* in the description of *schema*, unless that is no text or tells it."""
    # Each part has a character at least, and parts are made one by one: this is quick
    # for a default of any size, and recurses no deeper than it tells.
    parts = islice(_JSON.iterencode(default), _MOST_DESCRIBED + 1)
    told = f"(default: {_cut(''.join(parts), _MOST_DESCRIBED)})"
    known = schema.get("description", "")
    if isinstance(known, str) and told not in known:
        schema["description"] = f"{known} {told}".lstrip()
