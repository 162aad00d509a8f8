"""Types of conversion: its options, and the losses that it reports."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Action", "ConversionOptions", "Effect", "Loss", "Mode", "ModelApi", "ServerPrefix"]


class ModelApi(StrEnum):
    """API of a model provider, or of a server that runs models."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    #: With ``parameters``, a subset of OpenAPI 3.0.
    GEMINI = "gemini"
    #: With ``parametersJsonSchema``.
    GEMINI_JSON = "gemini-json"
    BEDROCK = "bedrock"
    MISTRAL = "mistral"
    OLLAMA = "ollama"


class Mode(StrEnum):
    """Whether a tool is converted for the provider's strict mode (structured outputs)."""

    #: Never; the schema is widened where the provider would reject it, and never narrowed.
    COMPATIBLE = "compatible"
    #: Where the strict schema admits neither more nor less than the original.
    STRICT_IF_LOSSLESS = "strict_if_lossless"
    #: Always; a tool that has no strict schema is rejected.
    STRICT = "strict"


class ServerPrefix(StrEnum):
    """When tool names are prefixed with the name of their server."""

    #: If tools of several servers are converted together.
    AUTOMATIC = "automatic"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ConversionOptions:
    """Options of the conversion of tools."""

    mode: Mode = Mode.COMPATIBLE
    server_prefix: ServerPrefix = ServerPrefix.AUTOMATIC
    #: Treat an object that declares properties and has no ``additionalProperties`` as closed.
    assume_closed: bool = False
    #: Maximum length of a tool description, in characters; 0 is the provider's limit.
    description_length: int = 0
    #: Include the output schema, for providers that accept one.
    include_output_schema: bool = False


class Action(StrEnum):
    """Change that was made to a part of a definition."""

    #: None, but the provider ignores it.
    KEPT = "kept"
    #: Moved into the description.
    DESCRIBED = "described"
    #: Expressed in another form.
    REWRITTEN = "rewritten"
    #: Payloads take another form, which the mapping reverses. A payload that does not have
    #: that form, such as a string that should contain JSON text and does not, is reported
    #: when the call is converted back.
    ENCODED = "encoded"
    DROPPED = "dropped"


class Effect(StrEnum):
    """Effect of a change on the set of valid payloads, after the mapping is applied."""

    EQUIVALENT = "equivalent"
    #: More payloads are valid; those that the original rejects are reported when the call is
    #: converted back.
    WIDENED = "widened"
    #: Fewer payloads are valid: there are valid calls that the model cannot make.
    NARROWED = "narrowed"


class Loss(NamedTuple):
    """Difference between a converted tool and its original definition."""

    #: Location in the definition, as a JSON Pointer.
    pointer: str
    #: Keyword, or property of the definition; "" if the location identifies the subject.
    keyword: str
    action: Action
    effect: Effect
    #: Explanation in plain English.
    message: str
