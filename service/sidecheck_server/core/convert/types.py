"""Options of a conversion, and the losses that it reports."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.limits import Budget, spend

__all__ = [
    "Action",
    "ConversionOptions",
    "Effect",
    "Loss",
    "LossLog",
    "Mode",
    "ModelApi",
    "ServerPrefix",
]


class ModelApi(StrEnum):
    """API of a model provider, or of a server that runs models."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    #: Function declarations with ``parameters``, in a subset of OpenAPI 3.0.
    GEMINI = "gemini"
    #: Function declarations with ``parametersJsonSchema``.
    GEMINI_JSON = "gemini-json"
    BEDROCK = "bedrock"
    MISTRAL = "mistral"
    OLLAMA = "ollama"
    #: Not a model: definitions of MCP that clients and model APIs take as they are.
    MCP = "mcp"


class Mode(StrEnum):
    """Whether a tool is converted for the provider's strict mode (structured outputs)."""

    #: Never; the schema is widened where the provider would reject it, and never narrowed.
    COMPATIBLE = "compatible"
    #: If the strict schema admits exactly the payloads of the original.
    STRICT_IF_LOSSLESS = "strict-if-lossless"
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
    #: Drop every ``default`` of the input schema, rather than keep or describe it.
    drop_defaults: bool = False
    #: Protocol version that an included output schema is adapted to, or "" for none.
    protocol_version: str = ""
    #: Targets of a definition for MCP clients, sorted; empty for `mcp.DEFAULT_TARGETS`.
    targets: tuple[str, ...] = ()


class Action(StrEnum):
    """Change to a part of a definition."""

    #: The part is sent unchanged, but the provider ignores it.
    KEPT = "kept"
    #: Moved into the description.
    DESCRIBED = "described"
    #: Expressed in another form.
    REWRITTEN = "rewritten"
    #: Payloads take another form, which the mapping reverses. Converting a call back reports
    #: payloads without that form, such as a string that is not the expected JSON text.
    ENCODED = "encoded"
    DROPPED = "dropped"


class Effect(StrEnum):
    """Effect of a change on the set of valid payloads, after the mapping is applied."""

    EQUIVALENT = "equivalent"
    #: More payloads are valid. Converting a call back reports those that the original rejects.
    WIDENED = "widened"
    #: Fewer payloads are valid: the model cannot make some valid calls.
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


# Steps per loss, and per character of its pointer. A definition of a few hundred kilobytes can
# have 1,000 locations whose pointers are as long as the definition; 10 million steps allow 1 MB
# of pointers.
_LOSS = 100
_CHARACTER = 10


@dataclass(slots=True)
class LossLog:
    """Losses of one conversion, and the steps that are left for it."""

    budget: Budget
    losses: list[Loss] = field(default_factory=list)
    #: The losses that close an object without ``additionalProperties``.
    closings: set[Loss] = field(default_factory=set)

    def add(
        self, node: SchemaNode, keyword: str, action: Action, effect: Effect, message: str
    ) -> None:
        """Record that *keyword* of *node* is not as in the original.

        Raises:
            Exhausted: the budget is spent.
        """
        spend(self.budget, _LOSS + _CHARACTER * len(node.pointer))
        self.losses.append(Loss(node.pointer, keyword, action, effect, message))

    def add_closing(self, node: SchemaNode) -> None:
        """Record that the object at *node*, which has no additionalProperties, was closed."""
        # Decision 0037: an open object may accept further properties, so closing it narrows.
        message = "undeclared properties are allowed by default, but cannot be given in strict mode"
        self.add(node, "additionalProperties", Action.REWRITTEN, Effect.NARROWED, message)
        self.closings.add(self.losses[-1])

    def sort_losses(self) -> tuple[Loss, ...]:
        """Return the losses ordered by location, without repetition."""
        unique = dict.fromkeys(self.losses)
        return tuple(sorted(unique, key=lambda loss: (loss.pointer, loss.keyword, loss.message)))

    def first_inexact(self, *, assume_closed: bool) -> Loss | None:
        """Return the first loss that changes which payloads are valid.

        With *assume_closed*, losses that close an object without ``additionalProperties`` are
        ignored.
        """
        for loss in self.sort_losses():
            ignored = assume_closed and loss in self.closings
            if not ignored and loss.effect is not Effect.EQUIVALENT:
                return loss
        return None
