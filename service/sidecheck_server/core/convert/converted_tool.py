"""Converted tools without and with a name, and their JSON for a provider."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_to_json
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider, ToolDeclaration
from sidecheck_server.core.convert.schema_size import SchemaSize
from sidecheck_server.core.convert.types import Action, Effect, Loss, ModelApi
from sidecheck_server.core.payload import encode_json

__all__ = ["ConvertedTool", "ToolForm", "build_converted_tool", "combine_tools", "tool_json"]


@dataclass(frozen=True, slots=True)
class ToolForm:
    """Converted definition, without a name.

    A name depends on the other tools of the request; a form depends on the definition only,
    and can be cached.
    """

    #: Original name.
    tool: str
    definition_digest: str
    #: "" if there is none.
    description: str
    #: Schema as JSON text; None if the provider expects none for a tool without arguments.
    parameters: bytes | None
    #: Original output schema as JSON text, if it is included.
    output_schema: bytes | None
    #: Whether strict mode is requested; None if the provider has none.
    strict: bool | None
    decoder: ArgumentDecoder | None
    losses: tuple[Loss, ...]
    #: Reason why the tool is not strict although strict mode is preferred, or "".
    not_strict_reason: str
    size: SchemaSize
    #: Properties of the definition that the provider keeps, as the JSON text of an object.
    kept: bytes = b"{}"

    @property
    def length(self) -> int:
        """Approximate number of characters, without the decoder."""
        texts = (self.parameters or b"", self.output_schema or b"", self.description, self.kept)
        return sum(map(len, texts)) + _loss_length(self.losses)


@dataclass(frozen=True, slots=True)
class ConvertedTool:
    """Tool as a provider accepts it."""

    #: JSON text of the tool.
    json: bytes
    #: Name of the tool at the provider.
    name: str
    #: Whether strict mode is requested.
    strict: bool
    #: Mapping that converts its calls back, as JSON text.
    mapping: bytes
    #: Ordered by location.
    losses: tuple[Loss, ...]
    #: Reason why the tool is not strict although strict mode is preferred, or "".
    not_strict_reason: str

    @property
    def length(self) -> int:
        """Approximate number of characters."""
        return len(self.json) + len(self.mapping) + _loss_length(self.losses)


def _loss_length(losses: tuple[Loss, ...]) -> int:
    return sum(len(loss.pointer) + len(loss.message) for loss in losses)


def build_converted_tool(
    form: ToolForm, tool: ToolName, name: str, provider: Provider, not_strict_reason: str = ""
) -> ConvertedTool:
    """Return *form*, the form of *tool*, with its *name* at the provider.

    *not_strict_reason* is the reason why the other tools of the request keep it from being
    strict, or "".

    Raises:
        RequestError: as `mapping_to_json`.
    """
    strict = bool(form.strict)
    mapping = ToolMapping(
        api=provider.key,
        name=name,
        server=tool.server,
        tool=tool.name,
        definition_digest=form.definition_digest,
        strict=strict,
        decoder=form.decoder,
    )
    losses = form.losses
    if name != tool.name:
        message = f"the tool has the name {name!r} at the provider"
        losses = (*losses, Loss("/name", "", Action.ENCODED, Effect.EQUIVALENT, message))
    return ConvertedTool(
        json=tool_json(provider, name, form),
        name=name,
        strict=strict,
        mapping=mapping_to_json(mapping),
        losses=tuple(sorted(losses, key=lambda loss: loss.pointer)),
        not_strict_reason=not_strict_reason or form.not_strict_reason,
    )


def tool_json(provider: Provider, name: str, form: ToolForm) -> bytes:
    """Return the JSON text of *form* as a tool with *name*, for `combine_tools`."""
    declaration = ToolDeclaration(
        name=name,
        description=form.description,
        parameters=form.parameters,
        output_schema=form.output_schema,
        strict=form.strict,
        kept=form.kept,
    )
    return encode_json(provider.write_tool(declaration))


def combine_tools(api: ModelApi, tools: Sequence[bytes]) -> bytes:
    """Return the JSON texts of *tools* as one value of a request.

    It is the value of ``tools``; for Gemini a list with one tool that declares all functions,
    for Bedrock the value of ``toolConfig``, which may not be empty.
    """
    raw = [msgspec.Raw(tool) for tool in tools]
    return encode_json(PROVIDERS[api].combine_tools(raw))
