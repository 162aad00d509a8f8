"""Conversion of a tool, and validators of the original and the result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import msgspec
from agreement.corpus import edition_of
from preflight.checker import schema_of
from sidecheck_server.core.convert.converted_tool import ToolForm, tool_json
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import (
    ConversionOptions,
    Effect,
    Mode,
    ModelApi,
    ServerPrefix,
)
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool

__all__ = ["LIMITS", "OPTIONS", "ConvertedDefinition", "convert_tool", "oracle", "read_definition"]

LIMITS = Limits()

OPTIONS: Mapping[str, ConversionOptions] = MappingProxyType(
    {
        "compatible": ConversionOptions(),
        "if lossless": ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS),
        "if lossless, closed": ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS, assume_closed=True),
        "strict": ConversionOptions(mode=Mode.STRICT),
    }
)
"""Combinations of options whose results differ."""


@dataclass(frozen=True, slots=True)
class ConvertedDefinition:
    """Converted tool."""

    api: ModelApi
    form: ToolForm
    #: As the provider accepts it.
    json: bytes

    @property
    def tool(self) -> Any:
        """The tool as JSON."""
        return json.loads(self.json)

    @property
    def strict(self) -> bool:
        """Whether strict mode is requested."""
        return bool(self.form.strict)

    @property
    def schema(self) -> Any:
        """The converted schema, as JSON Schema 2020-12."""
        return schema_of(self.api, self.tool)

    def has_loss(self, effect: Effect) -> bool:
        """Return whether a loss has that *effect*."""
        return any(loss.effect is effect for loss in self.form.losses)


def read_definition(tool: Mapping[str, Any]) -> ToolDefinition:
    """Return the definition of *tool*.

    Raises:
        RequestError: it is not a definition.
    """
    return read_tool(msgspec.json.encode(tool), (), LIMITS)


def convert_tool(
    definition: ToolDefinition, api: ModelApi, options: ConversionOptions
) -> ConvertedDefinition:
    """Return *definition*, converted for *api*.

    Raises:
        RequestError: it cannot be converted.
    """
    form = convert_definition(definition, PROVIDERS[api], options, LIMITS)
    return ConvertedDefinition(
        api, form, tool_json(PROVIDERS[api], _name(definition.name, api), form)
    )


@cache
def _name(name: str, api: ModelApi) -> str:
    return assign_tool_names([ToolName("", name)], PROVIDERS[api].tool_names, ServerPrefix.NEVER)[0]


def oracle(schema: Any) -> jsonschema_rs.Validator:
    """Return jsonschema-rs's validator of *schema*, in the edition that it declares.

    Raises:
        ValueError: it rejects the schema.
    """
    return edition_of(schema).oracle(schema, {})
