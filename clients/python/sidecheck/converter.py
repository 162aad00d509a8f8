"""Conversion of MCP tools for OpenAI's Chat Completions, in process.

Schemas keep everything except ``default``, even keywords that the API rejects. The service
converts for several APIs and reports losses: `sidecheck.ConversionClient`. This module needs
only the standard library.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from json import JSONEncoder
from typing import Any, Final

from sidecheck.json_copies import NotJson, copy_json
from sidecheck.json_values import Role, convert_value
from sidecheck.sdk_objects import is_sdk_object

__all__ = ["ConversionError", "ConversionFailure", "MCPToOpenAIConverter"]

#: Maximum length of a name in a message, in characters.
_MAX_NAME: Final = 200
#: Maximum length of a default in a description, in characters.
_MAX_DEFAULT: Final = 100

_JSON: Final = JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ConversionFailure:
    """A tool that could not be converted, with the reason."""

    #: Index of the tool in the list.
    index: int
    #: Name of the tool; "" if it has none.
    name: str
    reason: str


class ConversionError(ValueError):
    """Some tools of a list could not be converted.

    ``failures`` describes them, and ``converted`` has all others, in order.
    """

    def __init__(
        self, failures: Iterable[ConversionFailure], converted: Iterable[dict[str, Any]]
    ) -> None:
        self.failures = tuple(failures)
        self.converted = list(converted)
        super().__init__(self.failures, self.converted)

    def __str__(self) -> str:
        total = len(self.failures) + len(self.converted)
        reasons = "; ".join(
            f"[{failure.index}] {_quote_tool(failure.name)}: {failure.reason}"
            for failure in self.failures
        )
        return f"{len(self.failures)} of {total} tools cannot be converted: {reasons}"


class MCPToOpenAIConverter:
    """Converts MCP tools to functions for OpenAI's Chat Completions.

    ``inputSchema`` becomes ``parameters``, without its defaults; all other keywords are
    kept. The input is never changed, and shares nothing with the result.
    """

    @staticmethod
    def convert_tool(
        mcp_tool: dict[str, Any], *, describe_defaults: bool = False
    ) -> dict[str, Any]:
        """Convert one entry of ``tools/list``, as decoded JSON or an SDK object.

        The result is ``{"type": "function", "function": {"name", "description",
        "parameters"}}``. A missing or null description becomes "": it is optional in MCP,
        while the API requires a string. With *describe_defaults*, the default of a schema
        is added to its description. Tuples become lists, as in any JSON.

        Raises:
            ValueError: ``name`` is not a string, ``description`` neither a string nor null,
                or ``inputSchema`` not an object; or the schema contains more than a million
                values, or a value that JSON cannot express (RFC 8259): another type, a
                property name that is not a string, NaN or an infinity, or itself. The
                message names the tool and the location.
        """
        try:
            return _convert(mcp_tool, describe=describe_defaults)
        except _InvalidTool as error:
            raise ValueError(f"{_quote_tool(_name_of(mcp_tool))}: {error}") from None

    @staticmethod
    def convert_all_tools(
        mcp_tools: Iterable[dict[str, Any]],
        *,
        skip_bad: bool = False,
        describe_defaults: bool = False,
    ) -> list[dict[str, Any]]:
        """Convert tools as `convert_tool` does, in order.

        With *skip_bad*, tools that cannot be converted are omitted.

        Raises:
            ConversionError: Some tools cannot be converted; it describes them and has the
                converted others.
            TypeError: *mcp_tools* is an object, for example a ``tools/list`` result.
        """
        if isinstance(mcp_tools, dict) or is_sdk_object(mcp_tools):
            raise TypeError("expected a list of tools, not an object")
        converted: list[dict[str, Any]] = []
        failures: list[ConversionFailure] = []
        for index, tool in enumerate(mcp_tools):
            try:
                converted.append(_convert(tool, describe=describe_defaults))
            except _InvalidTool as error:
                failures.append(ConversionFailure(index, _name_of(tool), str(error)))
        if failures and not skip_bad:
            raise ConversionError(failures, converted)
        return converted

    @staticmethod
    def _remove_defaults(schema: dict[str, Any], *, describe: bool = False) -> None:
        """Remove ``default`` from *schema* and its subschemas, in place.

        Values that are not schemas stay: constants, examples, values of unknown keywords, and
        properties called ``default``.
        """
        pending: list[Any] = [schema]
        seen: set[int] = set()
        while pending:
            subschema = pending.pop()
            if not isinstance(subschema, dict) or id(subschema) in seen:
                continue
            seen.add(id(subschema))
            if "default" in subschema:
                default = subschema.pop("default")
                if describe:
                    _describe(subschema, default)
            for keyword in subschema.keys() & _SUBSCHEMAS.keys():
                pending += _SUBSCHEMAS[keyword](subschema[keyword])


class _InvalidTool(ValueError):
    """A tool that cannot be converted; the message is the reason."""


def _convert(tool: object, *, describe: bool) -> dict[str, Any]:
    if is_sdk_object(tool):
        try:
            tool = convert_value(tool, Role.PROTOCOL)
        except NotJson as error:
            raise _InvalidTool(str(error)) from None
    if not isinstance(tool, dict):
        raise _InvalidTool(f"a tool must be an object, not of type {type(tool).__name__}")
    name, description = tool.get("name"), tool.get("description")
    if not isinstance(name, str):
        raise _InvalidTool(_expected(tool, "name", "a string"))
    if not isinstance(description, str | None):
        raise _InvalidTool(_expected(tool, "description", "a string"))
    if not isinstance(tool.get("inputSchema"), dict):
        raise _InvalidTool(_expected(tool, "inputSchema", "an object"))
    try:
        parameters = copy_json(tool["inputSchema"], "inputSchema")
    except NotJson as error:
        raise _InvalidTool(str(error)) from None
    MCPToOpenAIConverter._remove_defaults(parameters, describe=describe)  # noqa: SLF001
    return {
        "type": "function",
        "function": {"name": name, "description": description or "", "parameters": parameters},
    }


def _expected(tool: dict[str, Any], name: str, expected: str) -> str:
    if name in tool:
        return f"/{name} is of type {type(tool[name]).__name__}; expected {expected}"
    return f"missing property {name!r}; expected {expected}"


def _name_of(tool: object) -> str:
    name = tool.get("name") if isinstance(tool, dict) else getattr(tool, "name", None)
    return name if isinstance(name, str) else ""


def _quote_tool(name: str) -> str:
    return f"tool {_cut(name, _MAX_NAME)!r}" if name else "a tool without a name"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


# Subschemas


def _single(value: Any) -> Iterable[Any]:
    return (value,)


def _items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()


def _single_or_items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else (value,)


def _values(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else ()


#: Functions that return the subschemas of a keyword, for all dialects since draft 4. The
#: comments are sections of JSON Schema 2020-12, core unless noted. All other values are data.
_SUBSCHEMAS: Final[dict[str, Callable[[Any], Iterable[Any]]]] = {
    "$defs": _values,  # 8.2.4
    "definitions": _values,  # draft 7, validation, 9
    "allOf": _items,  # 10.2.1.1
    "anyOf": _items,  # 10.2.1.2
    "oneOf": _items,  # 10.2.1.3
    "not": _single,  # 10.2.1.4
    "if": _single,  # 10.2.2.1
    "then": _single,  # 10.2.2.2
    "else": _single,  # 10.2.2.3
    "dependentSchemas": _values,  # 10.2.2.4
    "dependencies": _values,  # draft 7, validation, 6.5.7; lists of names beside schemas
    "prefixItems": _items,  # 10.3.1.1
    "items": _single_or_items,  # 10.3.1.2; a list in draft 7, validation, 6.4.1
    "additionalItems": _single,  # draft 7, validation, 6.4.2
    "contains": _single,  # 10.3.1.3
    "properties": _values,  # 10.3.2.1
    "patternProperties": _values,  # 10.3.2.2
    "additionalProperties": _single,  # 10.3.2.3
    "propertyNames": _single,  # 10.3.2.4
    "unevaluatedItems": _single,  # 11.2
    "unevaluatedProperties": _single,  # 11.3
    "contentSchema": _single,  # validation, 8.5
}


def _describe(schema: dict[str, Any], default: Any) -> None:
    """Add *default* to the description of *schema*, if that is a string without it."""
    # The parts are encoded lazily and have at least one character each, so that the time and
    # the depth are bounded for any default.
    parts = islice(_JSON.iterencode(default), _MAX_DEFAULT + 1)
    suffix = f"(default: {_cut(''.join(parts), _MAX_DEFAULT)})"
    description = schema.get("description", "")
    if isinstance(description, str) and suffix not in description:
        schema["description"] = f"{description} {suffix}".lstrip()
