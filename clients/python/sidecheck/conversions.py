"""What is answered to conversions: tools and results as an API has them, calls as MCP has them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sidecheck.converting import ModelApi
from sidecheck.errors import SidecheckError
from sidecheck.repairs import Change
from sidecheck.texts import JsonText
from sidecheck.verdicts import Verdict

__all__ = [
    "Converted",
    "ConvertedResult",
    "ConvertedTools",
    "Direction",
    "Loss",
    "LossAction",
    "RestoredCall",
    "ToolConversion",
]


class LossAction(StrEnum):
    """What was done to something that is not as in the original."""

    #: It stands as it was, though the API gives no heed to it.
    KEPT = "kept"
    #: It is told in the description.
    DESCRIBED = "described"
    #: It is said in another form.
    REWRITTEN = "rewritten"
    #: Payloads have another form there; the plan turns them back.
    ENCODED = "encoded"
    #: It is left out.
    DROPPED = "dropped"
    #: Something that this release of the client has no word for.
    UNSPECIFIED = "unspecified"


class Direction(StrEnum):
    """What a loss means for the payloads that are admitted, once the plan is applied."""

    #: The same ones.
    SAME = "same"
    #: More: those that the original refuses are found out when the call comes back.
    WIDER = "wider"
    #: Fewer: there are valid calls that the model cannot make.
    NARROWER = "narrower"
    #: Something that this release of the client has no word for.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One thing that is not as in the original."""

    #: Where in the definition, or in the result, as a JSON Pointer.
    pointer: str
    #: The keyword, or the member of the definition; "" where the place says it all.
    keyword: str
    #: What was done.
    action: LossAction
    #: What that means.
    direction: Direction
    #: The same for a person.
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A tool in the form of an API."""

    #: The tool as JSON text: an element of the list that `ConvertedTools.tools` has.
    text: JsonText
    #: The name that the model knows it by.
    name: str
    #: Whether it asks the API to hold the model to the schema.
    strict: bool
    #: What `restore_call` needs, as JSON text. It may be kept or sent anywhere, and has
    #: no values of payloads in it. It is of this definition alone: if that changes, the
    #: tool is converted again.
    plan: JsonText
    #: Everything that is not as in the original, ordered by pointer.
    losses: tuple[Loss, ...] = ()
    #: Why the tool is not strict though the mode prefers it; "" if it is, or need not be.
    not_strict_reason: str = ""

    @property
    def json(self) -> dict[str, Any]:
        """The tool, decoded anew at each use."""
        value: dict[str, Any] = self.text.value
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConversion:
    """What became of one tool."""

    #: The server that offers it, or "".
    server: str
    #: Its name; "" if that cannot be read.
    name: str
    #: The tool in the form of the API, or why there is none.
    outcome: Converted | SidecheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedTools:
    """The answer to a conversion of tools."""

    #: The API that takes them.
    api: ModelApi
    #: One for each tool, in the order in which they were given.
    conversions: tuple[ToolConversion, ...]
    #: What is wrong with the converted tools as one request. Instance pointers lead into
    #: `converted`: ``/2`` is its third.
    request: Verdict

    @property
    def converted(self) -> tuple[Converted, ...]:
        """Those that were converted, in order."""
        outcomes = (one.outcome for one in self.conversions)
        return tuple(outcome for outcome in outcomes if isinstance(outcome, Converted))

    @property
    def tools(self) -> Any:
        """What a request to the API takes, decoded anew at each use.

        It is the value of ``tools``: a list, for Gemini one of a single object with
        ``functionDeclarations``. For Bedrock it is that of ``toolConfig``, an object.
        """
        found = [one.json for one in self.converted]
        if self.api is ModelApi.BEDROCK:
            return {"tools": found}
        if self.api in (ModelApi.GEMINI, ModelApi.GEMINI_JSON):
            return [{"functionDeclarations": found}]
        return found

    @property
    def plans(self) -> list[JsonText]:
        """What `restore_call` needs of all of them."""
        return [one.plan for one in self.converted]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredCall:
    """A model's call as MCP has it."""

    #: The server that offers the tool, or "".
    server: str
    #: The original name of the tool.
    tool: str
    #: The id that the API gave the call, or "".
    call_id: str
    #: The ``params`` of the ``tools/call``; empty if the arguments are not a JSON object.
    call_params: JsonText
    #: The verdict on the restored arguments under the original input schema. If the call
    #: cannot be read, instance pointers lead into it.
    verdict: Verdict
    #: What was done to the arguments beside renaming. Pointers lead into those that the
    #: model sent.
    changes: tuple[Change, ...] = ()
    #: The name that the model knows the tool by, which `convert_result` wants, or "".
    name: str = ""

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The restored arguments, decoded anew at each use; None where there are none."""
        params = self.call_params.value
        return None if params is None else params["arguments"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedResult:
    """A result as an API has it."""

    #: What tells the model: a message, an item for Responses, or for Anthropic, Bedrock and
    #: Gemini a part of one message of the user. Media are in base64; botocore encodes bytes
    #: itself and is given them decoded. If the verdict is invalid, it tells of a failure.
    message: JsonText
    #: The verdict on the result.
    verdict: Verdict
    #: What the API cannot be told. Pointers lead into the result.
    losses: tuple[Loss, ...] = ()
