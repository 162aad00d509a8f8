"""What is converted for the APIs of providers of models, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from sidecheck.targets import Target, ToolJson

__all__ = [
    "ConversionOptions",
    "Convertible",
    "Mode",
    "ModelApi",
    "PlanJson",
    "ServerPrefix",
    "ToolToConvert",
]

#: A plan: JSON text, or the object that it says.
PlanJson: TypeAlias = bytes | str | Mapping[str, Any]


class ModelApi(StrEnum):
    """The API of a provider of models, or of a server that runs models."""

    #: OpenAI's Chat Completions.
    OPENAI_CHAT = "openai-chat"
    #: OpenAI's Responses.
    OPENAI_RESPONSES = "openai-responses"
    #: Anthropic's Messages.
    ANTHROPIC = "anthropic"
    #: Gemini, with ``parameters``: a subset of OpenAPI 3.0.
    GEMINI = "gemini"
    #: Gemini, with ``parametersJsonSchema``.
    GEMINI_JSON = "gemini-json"
    #: Amazon Bedrock's Converse.
    BEDROCK = "bedrock"
    #: Mistral's chat completions.
    MISTRAL = "mistral"
    #: Ollama's chat.
    OLLAMA = "ollama"


class Mode(StrEnum):
    """Whether the API is asked to hold the model to the schema."""

    #: No: the schema guides the model. What the API would refuse is widened, never narrowed.
    COMPATIBLE = "compatible"
    #: For each tool whose strict form admits neither more nor less than the original, once
    #: the plan is applied; the others as with `COMPATIBLE`.
    STRICT_IF_LOSSLESS = "strict_if_lossless"
    #: For every tool, or it is refused, as all are for Gemini and Ollama, which cannot be
    #: asked. Narrows where that is the only way, and says so.
    STRICT = "strict"


class ServerPrefix(StrEnum):
    """When names of tools begin with the name of their server and ``__``."""

    #: Where the request has tools of several servers.
    AUTOMATIC = "automatic"
    #: Always, for tools that have a server.
    ALWAYS = "always"
    #: Never.
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionOptions:
    """How tools are converted; every default is the server's own."""

    #: Whether the API is asked to hold the model to the schema.
    mode: Mode = Mode.COMPATIBLE
    #: When names begin with the server's.
    server_prefix: ServerPrefix = ServerPrefix.AUTOMATIC
    #: Whether an object that declares members and says nothing of others counts as
    #: closed, so that closing it is no reason against a strict form. Without this,
    #: `STRICT_IF_LOSSLESS` makes few tools strict.
    assume_closed: bool = False
    #: The longest description of a tool, in characters; a longer one is cut, and told. 0
    #: means what the API takes.
    description_length: int = 0
    #: Whether the output schema goes along, for APIs that take one.
    include_output_schema: bool = False


@dataclass(frozen=True, slots=True)
class ToolToConvert:
    """A tool to convert, with the server that offers it."""

    #: The tool: registered, by the digest of its definition, or sent along; bare JSON is
    #: a definition.
    tool: Target | ToolJson
    #: The server, for the tool's name. "" means the one that it is registered for.
    server: str = ""


#: A tool to convert: a definition, or what finds one, or either with its server.
Convertible: TypeAlias = ToolToConvert | Target | ToolJson
