"""Values of ConversionService: conversions to and from APIs of providers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.json_types import JsonBytes, JsonObject, JsonText
from sidecheck.targets import Target, ToolJson
from sidecheck.tool_lists import Definition
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


class ModelApi(StrEnum):
    """API of a model provider or of a model server."""

    #: OpenAI Chat Completions.
    OPENAI_CHAT = "openai-chat"
    #: OpenAI Responses.
    OPENAI_RESPONSES = "openai-responses"
    #: Anthropic Messages.
    ANTHROPIC = "anthropic"
    #: Gemini with ``parameters``, a subset of OpenAPI 3.0.
    GEMINI = "gemini"
    #: Gemini with ``parametersJsonSchema``.
    GEMINI_JSON = "gemini-json"
    #: Amazon Bedrock Converse.
    BEDROCK = "bedrock"
    #: Mistral chat completions.
    MISTRAL = "mistral"
    #: Ollama chat.
    OLLAMA = "ollama"
    #: No model: MCP definitions that clients and model APIs accept as they are.
    MCP = "mcp"


class ConversionMode(StrEnum):
    """Whether converted tools request the strict mode of the API."""

    #: Never. Keywords that the API rejects are widened, never narrowed.
    COMPATIBLE = "compatible"
    #: For tools whose strict form, with its mapping, admits the same payloads as the
    #: original; other tools are converted as with `COMPATIBLE`.
    STRICT_IF_LOSSLESS = "strict-if-lossless"
    #: For every tool. A tool without a strict form is an error, and so is every tool for
    #: Gemini and Ollama, which have no strict mode. May narrow, which is a `Loss`.
    STRICT = "strict"


class ServerPrefix(StrEnum):
    """Condition for prefixing tool names with the name of their server and ``__``."""

    #: If the request has tools of several servers.
    AUTOMATIC = "automatic"
    #: For every tool that has a server.
    ALWAYS = "always"
    #: Never.
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionOptions:
    """Options of a conversion of tools; the defaults are those of the server."""

    #: Whether to request the strict mode of the API.
    mode: ConversionMode = ConversionMode.COMPATIBLE
    #: When to prefix tool names with the server.
    server_prefix: ServerPrefix = ServerPrefix.AUTOMATIC
    #: Whether objects that declare properties but no rule for others count as closed, so
    #: that closing them does not prevent a strict form. Without this, `STRICT_IF_LOSSLESS`
    #: makes few tools strict.
    assume_closed: bool = False
    #: Maximum length of a tool's description, in characters; longer ones are truncated,
    #: which is a `Loss`. 0 is the limit of the API.
    description_length: int = 0
    #: Whether to include the output schema, for APIs that accept one.
    include_output_schema: bool = False
    #: Whether to drop every ``default`` of the input schema, at any depth; without this,
    #: defaults that the API does not support are moved to the description.
    drop_defaults: bool = False
    #: Protocol version for included output schemas; "" is the client's.
    protocol_version: str = ""


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
