"""Conversions, as they are looked at: a tool, the form that it has, and the judges of both."""

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
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition, read_tool

__all__ = ["LIMITS", "WAYS", "Made", "defined", "made", "oracle"]

LIMITS = Limits()

WAYS: Mapping[str, ConversionOptions] = MappingProxyType(
    {
        "compatible": ConversionOptions(),
        "if lossless": ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS),
        "if lossless, closed": ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS, assume_closed=True),
        "strict": ConversionOptions(mode=Mode.STRICT),
    }
)
"""The ways of conversion that differ."""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a tool."""

    api: ModelApi
    form: ToolForm
    #: As the API takes it.
    json: bytes

    @property
    def tool(self) -> Any:
        """The tool as JSON."""
        return json.loads(self.json)

    @property
    def strict(self) -> bool:
        """Whether the API is asked to hold the model to the schema."""
        return bool(self.form.strict)

    @property
    def schema(self) -> Any:
        """The converted schema, as JSON Schema 2020-12."""
        return schema_of(self.api, self.tool)

    def loses(self, direction: Effect) -> bool:
        """Return whether something was lost in that direction."""
        return any(loss.effect is direction for loss in self.form.losses)


def defined(tool: Mapping[str, Any]) -> ToolDefinition:
    """Return *tool* as it is read.

    Raises:
        Refusal: it is no definition.
    """
    return read_tool(msgspec.json.encode(tool), (), LIMITS)


def made(definition: ToolDefinition, api: ModelApi, options: ConversionOptions) -> Made:
    """Return what becomes of *definition*.

    Raises:
        Refusal: it cannot be converted.
    """
    form = convert_definition(definition, PROVIDERS[api], options, LIMITS)
    return Made(api, form, tool_json(PROVIDERS[api], _name(definition.name, api), form))


@cache
def _name(name: str, api: ModelApi) -> str:
    return assign_tool_names([ToolName("", name)], PROVIDERS[api].tool_names, ServerPrefix.NEVER)[0]


def oracle(schema: Any) -> jsonschema_rs.Validator:
    """Return jsonschema-rs's validator of *schema*, in the edition that it declares.

    Raises:
        ValueError: it does not take the schema.
    """
    return edition_of(schema).oracle(schema, {})
