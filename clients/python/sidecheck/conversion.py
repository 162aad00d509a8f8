"""Values of ConversionService: conversions to and from APIs of providers."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.json_types import JsonBytes, JsonObject, JsonText
from sidecheck.targets import Target, ToolJson
from sidecheck.tool_lists import Definition
from sidecheck.values.conversion_options import (
    ConversionMode,
    ConversionOptions,
    ModelApi,
    ServerPrefix,
)
from sidecheck.values.losses import Loss
from sidecheck.values.verdict import Change, Verdict

__all__ = [
    "ConversionMode",
    "ConversionOptions",
    "ConvertedCall",
    "ConvertedResult",
    "ConvertedTool",
    "ConvertedTools",
    "Convertible",
    "MappingJson",
    "ModelApi",
    "ServerPrefix",
    "ToolConversion",
    "ToolToConvert",
]

#: A mapping of a converted tool: JSON text, or the decoded object.
MappingJson: TypeAlias = JsonBytes | JsonObject


# Requests


@dataclass(frozen=True, slots=True)
class ToolToConvert:
    """A tool to convert, with the server that offers it."""

    #: The tool: registered, by digest, or inline; bare JSON is a definition.
    tool: Target | Definition | ToolJson
    #: The server, for the tool name; "" is the server for which the tool is registered.
    server: str = ""


#: A tool to convert: a definition or target, alone or with its server.
Convertible: TypeAlias = ToolToConvert | Target | Definition | ToolJson


# Responses


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedTool:
    """A tool in the form of an API."""

    #: The tool as JSON text: an element of `ConvertedTools.tools`.
    text: JsonText
    #: The name by which the model calls the tool.
    name: str
    #: Whether the tool requests the strict mode of the API.
    strict: bool
    #: Data for `convert_tool_call`, as JSON text. It contains no payload values, so that it
    #: may be stored or sent anywhere. It belongs to this definition: convert the tool again
    #: when the definition changes.
    mapping: JsonText
    #: All differences from the original, ordered by pointer.
    losses: tuple[Loss, ...] = ()
    #: Why the tool is not strict although the mode prefers it; "" otherwise.
    not_strict_reason: str = ""

    @property
    def json(self) -> dict[str, Any]:
        """The decoded tool. Decoded at each access."""
        value: dict[str, Any] = self.text.value
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConversion:
    """Outcome of the conversion of one tool."""

    #: The server that offers the tool, or "".
    server: str
    #: Name of the tool; "" if it cannot be read.
    name: str
    #: The converted tool, or the error.
    outcome: ConvertedTool | SidecheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedTools:
    """Result of a conversion of tools."""

    #: The API of the tools.
    api: ModelApi
    #: Outcomes of the tools, in the order given.
    conversions: tuple[ToolConversion, ...]
    #: Verdict on the converted tools as one request. Instance locations point into
    #: `converted`: ``/2`` is its third tool.
    request: Verdict

    @property
    def converted(self) -> tuple[ConvertedTool, ...]:
        """The tools that were converted, in order."""
        outcomes = (conversion.outcome for conversion in self.conversions)
        return tuple(outcome for outcome in outcomes if isinstance(outcome, ConvertedTool))

    @property
    def tools(self) -> Any:
        """The tools for a request to the API. Decoded at each access.

        This is the value of ``tools``: a list, for Gemini with a single object that has
        ``functionDeclarations``. For Bedrock it is the value of ``toolConfig``, an object.
        """
        tools = [tool.json for tool in self.converted]
        if self.api is ModelApi.BEDROCK:
            return {"tools": tools}
        if self.api in (ModelApi.GEMINI, ModelApi.GEMINI_JSON):
            return [{"functionDeclarations": tools}]
        return tools

    @property
    def mappings(self) -> list[JsonText]:
        """The mappings of all converted tools, for `convert_tool_call`."""
        return [tool.mapping for tool in self.converted]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedCall:
    """A model's call in the form of MCP."""

    #: The server that offers the tool, or "".
    server: str
    #: Original name of the tool.
    tool: str
    #: The id that the API gave the call, or "".
    call_id: str
    #: The ``params`` of the ``tools/call``; empty if the arguments are not a JSON object.
    call_params: JsonText
    #: Verdict on the arguments, validated against the original input schema. If the call
    #: cannot be read, instance locations point into the call.
    verdict: Verdict
    #: Changes of the arguments other than renames. Locations point into the arguments
    #: that the model sent.
    changes: tuple[Change, ...] = ()
    #: The name by which the model called the tool, for `convert_tool_result`, or "".
    name: str = ""

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The decoded arguments, or None if there are none. Decoded at each access."""
        params = self.call_params.value
        return None if params is None else params["arguments"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedResult:
    """A tool result in the form of an API."""

    #: A message, for Responses an item, and for Anthropic, Bedrock and Gemini a part of a
    #: user message. Media are Base64; decode them for botocore, which encodes bytes itself.
    #: If the verdict is invalid, the message reports the failure.
    message: JsonText
    #: Verdict on the result.
    verdict: Verdict
    #: Parts that the API cannot express. Pointers point into the result.
    losses: tuple[Loss, ...] = ()
