"""The words of conversion: what one may ask for, and what is told of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Action", "ConversionOptions", "Direction", "Loss", "Mode", "ModelApi", "ServerPrefix"]


class ModelApi(StrEnum):
    """The API of a provider of models, or of a server that runs models."""

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
    """Whether the API is asked to hold the model to the schema."""

    #: No; what the API would refuse is widened, never narrowed.
    COMPATIBLE = "compatible"
    #: Where the strict form admits neither more nor less than the original.
    STRICT_IF_LOSSLESS = "strict_if_lossless"
    #: Always, or the tool is refused.
    STRICT = "strict"


class ServerPrefix(StrEnum):
    """When names of tools begin with the name of their server."""

    #: Where tools of several servers are converted together.
    AUTOMATIC = "automatic"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ConversionOptions:
    """How tools are converted."""

    mode: Mode = Mode.COMPATIBLE
    server_prefix: ServerPrefix = ServerPrefix.AUTOMATIC
    #: Whether an object that declares members and says nothing of others counts as closed.
    assume_closed: bool = False
    #: The longest description of a tool, in characters; 0 means what the API takes.
    description_length: int = 0
    #: Whether the output schema goes along, for APIs that take one.
    include_output_schema: bool = False


class Action(StrEnum):
    """What was done to something that is not as in the original."""

    #: It stands as it was, though the API gives no heed to it.
    KEPT = "kept"
    #: It is told in the description.
    DESCRIBED = "described"
    #: It is said in another form.
    REWRITTEN = "rewritten"
    #: Payloads have another form there; the plan turns them back. What has not that form,
    #: for example a string that should hold JSON text and does not, is found out when the
    #: call comes back.
    ENCODED = "encoded"
    DROPPED = "dropped"


class Direction(StrEnum):
    """What that means for the payloads that are admitted, once the plan is applied."""

    SAME = "same"
    #: More; those that the original refuses are found out when a call comes back.
    WIDER = "wider"
    #: Fewer: there are valid calls that the model cannot make.
    NARROWER = "narrower"


class Loss(NamedTuple):
    """One thing that is not as in the original."""

    #: Where in the definition, as a JSON Pointer.
    pointer: str
    #: The keyword, or the member of the definition; "" where the place says it all.
    keyword: str
    action: Action
    direction: Direction
    #: The same for a person.
    message: str
