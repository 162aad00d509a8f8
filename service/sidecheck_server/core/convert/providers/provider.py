"""Contract of a model provider: facts about its API, and its JSON shapes.

Every fact has a source and a date. If the provider's own pages were not available, the
source names a publication that quotes them. An unverified fact has neither.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import msgspec

from sidecheck_server.core.convert.call_ids import CallIdGrammar
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = [
    "LETTERS_TO_DOT_64",
    "PDF",
    "WEB_IMAGES",
    "Arguments",
    "CallShape",
    "Media",
    "Provider",
    "RequestLimits",
    "ResultItem",
    "Source",
    "ToolDeclaration",
    "ToolResult",
]

LETTERS_TO_DOT_64 = NameGrammar(64, "A-Za-z0-9_.-", 'ASCII letters, digits, "_", "." and "-"')

PDF = "application/pdf"

WEB_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""Image types that several providers accept.

anthropic 2.12.0, types/base64_image_source_param.py; OpenAI's guide to images; botocore
1.44.5, ImageFormat.
"""

# For providers that require a schema even if the tool takes no arguments.
_NO_PARAMETERS = msgspec.Raw(b'{"type":"object","properties":{}}')


@dataclass(frozen=True, slots=True)
class Source:
    """Source of facts."""

    #: The facts, named by fields of `Provider` and `Subset` where possible.
    facts: str
    #: A page, a file of a published package, or a report; "" for unverified facts.
    reference: str
    #: Date of reading, ``YYYY-MM-DD``; "" for unverified facts.
    date: str


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits on all tools of one request together; None is no limit."""

    tools: int | None = None
    #: Strict tools.
    strict_tools: int | None = None
    #: Optional properties, in all strict tools.
    strict_optional: int | None = None
    #: Properties whose type is a union, in all strict tools.
    strict_unions: int | None = None


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """Converted tool, to be written in the JSON of a provider."""

    name: str
    #: "" if there is none.
    description: str
    #: Schema of the arguments, as JSON text; None if it is omitted.
    parameters: bytes | None
    #: Output schema, as JSON text; None if it is not included.
    output_schema: bytes | None
    #: Whether strict mode is requested; None if the provider has none.
    strict: bool | None
    #: Properties of the definition that the provider keeps, as the JSON text of an object.
    kept: bytes = b"{}"

    def heading(self) -> dict[str, Any]:
        """Return the name and the description; no provider accepts null for the latter."""
        heading = {"name": self.name}
        return {**heading, "description": self.description} if self.description else heading

    def function(self, parameters_key: str = "parameters") -> dict[str, Any]:
        """Return the tool as an object with its schema under *parameters_key*.

        ``strict`` is present whenever the provider has it: without it, OpenAI's Responses
        uses strict mode where it can (OpenAI's OpenAPI description, FunctionTool).
        """
        schema = _NO_PARAMETERS if self.parameters is None else msgspec.Raw(self.parameters)
        function = {**self.heading(), parameters_key: schema}
        if self.strict is not None:
            function["strict"] = self.strict
        return function


class Arguments(Enum):
    """Encoding of the arguments of a call; the values are phrases for messages."""

    TEXT = "the JSON text of an object"
    OBJECT = "an object"
    EITHER = "an object, or the JSON text of one"


@dataclass(frozen=True, slots=True)
class CallShape:
    """JSON shape of a model's call; locations are paths of property names."""

    name: tuple[str, ...]
    id: tuple[str, ...]
    arguments: tuple[str, ...]
    encoding: Arguments
    #: Description of the object, for messages.
    display_name: str
    #: Names of properties that may contain the whole call.
    wrappers: tuple[str, ...] = ()
    #: Whether missing arguments mean an empty object.
    arguments_optional: bool = False


@dataclass(frozen=True, slots=True)
class Media:
    """Content of a tool result that is not text."""

    #: Media type in lower case, without parameters.
    mime_type: str
    #: In Base64.
    data: str
    #: URI of the resource with this content, or "".
    uri: str

    @property
    def data_url(self) -> str:
        """The media as a ``data:`` URL."""
        return f"data:{self.mime_type};base64,{self.data}"


ResultItem: TypeAlias = str | dict[str, Any]
"""Text, or media in the JSON of the provider."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Result of a call, to be written in the JSON of a provider."""

    call_id: str
    name: str
    #: Never empty.
    items: list[ResultItem]
    failed: bool

    def content(self, text_type: str) -> str | list[dict[str, Any]]:
        """Return a single text as it is, other items as parts; texts get *text_type*."""
        first = self.items[0]
        if len(self.items) == 1 and isinstance(first, str):
            return first
        return [
            {"type": text_type, "text": item} if isinstance(item, str) else item
            for item in self.items
        ]

    def text(self) -> str:
        """Return all texts, joined by blank lines."""
        return "\n\n".join(item for item in self.items if isinstance(item, str))

    def media(self) -> list[dict[str, Any]]:
        """Return the items that are not text."""
        return [item for item in self.items if not isinstance(item, str)]


def _as_list(tools: list[msgspec.Raw]) -> Any:
    return tools


def _no_media(_media: Media) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Provider:
    """Facts and JSON shapes of one API of a model provider."""

    # Decision 0036: the rules of a provider are data, so a changed rule is a changed row.

    key: ModelApi
    #: Name in messages, such as "OpenAI's Chat Completions".
    display_name: str
    tool_names: NameGrammar
    #: Grammar of property names; None is any name.
    property_names: NameGrammar | None
    compatible: Subset
    #: None if the provider has no strict mode.
    strict: Subset | None
    request_limits: RequestLimits
    sources: tuple[Source, ...]
    #: JSON of one tool.
    write_tool: Callable[[ToolDeclaration], dict[str, Any]]
    call: CallShape
    #: JSON of the message with the result of a call; None if the result stays as it is.
    write_result: Callable[[ToolResult], dict[str, Any]] | None
    #: JSON of media in a result; None if the provider does not accept that type.
    write_media: Callable[[Media], dict[str, Any] | None] = _no_media
    #: Value of a request that contains all tools, as written by `write_tool`.
    combine_tools: Callable[[list[msgspec.Raw]], Any] = _as_list
    #: Maximum length of the description of a tool, in characters; None is no limit.
    max_description_length: int | None = None
    #: Whether a tool may include its output schema.
    accepts_output_schema: bool = False
    #: Properties of a definition that are kept: the output schema in the form for the version,
    #: others as they are.
    kept_properties: frozenset[str] = frozenset()
    #: Whether the schema is omitted for a tool that takes no arguments.
    omits_empty_parameters: bool = False
    #: Whether a result requires the id of the call, and the name of the tool.
    result_requires_call_id: bool = True
    result_requires_name: bool = False
    #: Whether a result has a field for failure; otherwise its text states the failure.
    result_has_error_flag: bool = False
    #: Grammar of the ids of calls; None is any id.
    call_ids: CallIdGrammar | None = None
    #: Maximum length of the text of a result, in characters; None is no limit.
    max_result_length: int | None = None
