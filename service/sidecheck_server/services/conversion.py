"""Conversion of several tools for one request to an API."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from sidecheck_server.core.convert.batch import BatchTool, ToolBatch
from sidecheck_server.core.convert.converted_tool import ConvertedTool, ToolForm
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.types import ConversionOptions
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.tools.definitions import told_name
from sidecheck_server.core.types import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.services.conversion_cache import Forms
from sidecheck_server.services.protocol import AT_ONCE
from sidecheck_server.services.targets import InlineTool, RegisteredTool, Target
from sidecheck_server.services.validation import Validator, found_tool

__all__ = ["Conversion", "Conversions", "Converter", "ToolToConvert", "ToolsToConvert"]

_FEW = 256
"""So many names are found in a moment; more, in a thread."""


@dataclass(frozen=True, slots=True)
class ToolToConvert:
    """One tool to convert."""

    #: What names it, or why it is not known what does.
    target: Target | RequestError
    #: The server that offers it, or "" for the one that it is registered for.
    server: str = ""


@dataclass(frozen=True, slots=True)
class ToolsToConvert:
    """Tools to convert for one request."""

    api: Provider
    options: ConversionOptions
    tools: tuple[ToolToConvert, ...]
    #: Servers whose registered tools are converted after these.
    servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one tool."""

    #: "" if there is none.
    server: str
    #: "" if it cannot be read.
    name: str
    outcome: ConvertedTool | RequestError


@dataclass(frozen=True, slots=True)
class Conversions:
    """What became of all of them."""

    #: In the order of the request.
    tools: tuple[Conversion, ...]
    #: What is wrong with those that were converted as one request.
    request: Verdict


class Converter:
    """Converts tools."""

    def __init__(
        self, validator: Validator, registry: Registry, forms: Forms, limits: Limits
    ) -> None:
        self._validator = validator
        self._registry = registry
        self._forms = forms
        self._limits = limits

    async def convert(self, asked: ToolsToConvert) -> Conversions:
        """Return what becomes of each tool, and what is wrong with all of them together.

        Raises:
            Refusal: LIMIT_EXCEEDED for more than ``batch_items`` tools, or if they have
                more text than an answer may; INVALID_REQUEST for a server without tools.
        """
        together = ToolBatch(await self._found(asked), asked.api, asked.options)
        tools = together.tools
        forms = await self._forms_of(tools, asked.api, asked.options)
        reasons = together.not_strict_reasons(forms)
        beyond = [one for one, why_not in zip(tools, reasons, strict=True) if why_not]
        again = iter(await self._forms_of(beyond, asked.api, together.fallback))
        forms = [
            next(again) if why_not else form for form, why_not in zip(forms, reasons, strict=True)
        ]
        # Many names take longer than a moment.
        names = together.names() if len(tools) <= _FEW else await asyncio.to_thread(together.names)
        outcomes = []
        for outcome in together.outcomes(forms, names, reasons):
            outcomes.append(outcome)
            await asyncio.sleep(0)
        done = (
            Conversion(one.tool.server, one.tool.name, outcome)
            for one, outcome in zip(tools, outcomes, strict=True)
        )
        return Conversions(tuple(done), together.check(forms, outcomes))

    async def _found(self, asked: ToolsToConvert) -> list[BatchTool[InlineTool]]:
        most = self._limits.batch_items
        if len(asked.tools) > most:
            raise exceeded("batch_items", most, "the tools", len(asked.tools))
        found = []
        for tool in asked.tools:
            if not isinstance(tool.target, RequestError):
                await self._validator.read_ahead(tool.target)
            found.append(self._one(tool))
            # Reading holds the loop; other calls have their turn in between.
            await asyncio.sleep(0)
        for server in asked.servers:
            left = most - len(found)
            bindings, more = self._registry.page(server, None, left + 1, sys.maxsize)
            if not bindings:
                said = f"no tool is registered for the server {server[:128]!r}"
                metadata = {"field": "servers", "server": server[:128]}
                raise RequestError(ErrorReason.INVALID_REQUEST, said, metadata)
            if more or len(bindings) > left:
                raise exceeded("batch_items", most, "the tools, with those of servers")
            several = map(found_tool, bindings)
            found += [BatchTool(ToolName(one.server, one.name), one.definition) for one in several]
        return found

    def _one(self, asked: ToolToConvert) -> BatchTool[InlineTool]:
        target = asked.target
        if isinstance(target, RequestError):
            return BatchTool(ToolName(asked.server, ""), target)
        try:
            found = self._validator.definition(target)
        except RequestError as refusal:
            server, name = self._names_of(target)
            return BatchTool(ToolName(asked.server or server, name), refusal)
        return BatchTool(ToolName(asked.server or found.server, found.name), found.definition)

    def _names_of(self, target: Target) -> tuple[str, str]:
        """Return the server and the name that *target* tells of a tool that was not found."""
        if isinstance(target, RegisteredTool):
            return target.server, target.name
        if isinstance(target, InlineTool):
            return "", told_name(target.json, self._limits)
        return "", ""

    async def _forms_of(
        self, tools: Sequence[BatchTool[InlineTool]], api: Provider, options: ConversionOptions
    ) -> list[ToolForm | RequestError]:
        forms: list[ToolForm | RequestError] = []
        length, most = 0, self._limits.message_bytes
        for start in range(0, len(tools), AT_ONCE):
            several = tools[start : start + AT_ONCE]
            made = await asyncio.gather(*(self._form(one, api, options) for one in several))
            forms += made
            length += sum(form.length for form in made if isinstance(form, ToolForm))
            if length > most:
                raise exceeded("message_bytes", most, "the converted tools")
        return forms

    async def _form(
        self, one: BatchTool[InlineTool], api: Provider, options: ConversionOptions
    ) -> ToolForm | RequestError:
        if isinstance(one.definition, RequestError):
            return one.definition
        try:
            return await self._forms.form(one.definition, api, options)
        except RequestError as refusal:
            return refusal
