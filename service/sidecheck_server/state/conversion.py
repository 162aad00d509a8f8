"""Conversion of several tools for one request to an API."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.converted import ConvertedTool, converted
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.names import Named, tool_names
from sidecheck_server.core.convert.requests import reasons_against_strict, request_problems
from sidecheck_server.core.convert.words import ConversionOptions, Mode
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.tools.definitions import decoded_tool, name_of
from sidecheck_server.core.payload import MalformedError
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.state.forms import Forms
from sidecheck_server.state.protocol import AT_ONCE
from sidecheck_server.state.targets import InlineTool, RegisteredTool, Target
from sidecheck_server.state.validation import Validator, found_tool

__all__ = ["Conversion", "Conversions", "Converter", "ToolToConvert", "ToolsToConvert"]

_FEW = 256
"""So many names are found in a moment; more, in a thread."""


@dataclass(frozen=True, slots=True)
class ToolToConvert:
    """One tool to convert."""

    #: What names it, or why it is not known what does.
    target: Target | Refusal
    #: The server that offers it, or "" for the one that it is registered for.
    server: str = ""


@dataclass(frozen=True, slots=True)
class ToolsToConvert:
    """Tools to convert for one request."""

    api: Api
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
    outcome: ConvertedTool | Refusal


@dataclass(frozen=True, slots=True)
class Conversions:
    """What became of all of them."""

    #: In the order of the request.
    tools: tuple[Conversion, ...]
    #: What is wrong with those that were converted as one request.
    request: Verdict


@dataclass(frozen=True, slots=True)
class _Found:
    """A tool of the request, with its definition or why there is none."""

    tool: Named
    definition: InlineTool | Refusal


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

        Names are given to all tools that were found, whether they can be converted or not,
        so that they are the same for every mode.

        Raises:
            Refusal: LIMIT_EXCEEDED for more than ``batch_items`` tools, or if they have
                more text than an answer may; INVALID_REQUEST for a server without tools.
        """
        tools = _without_doubles(await self._found(asked))
        forms = await self._all_forms(tools, asked.api, asked.options)
        reasons = [""] * len(tools)
        if asked.options.mode is Mode.STRICT_IF_LOSSLESS:
            forms, reasons = await self._within_request(tools, forms, asked)
        names = await _named(tools, asked)
        made, whole = [], []
        for one, form, why_not in zip(tools, forms, reasons, strict=True):
            outcome: ConvertedTool | Refusal
            if isinstance(form, Refusal):
                outcome = form
            else:
                try:
                    outcome = converted(form, one.tool, names[one.tool], asked.api, why_not)
                    whole.append(form)
                except Refusal as refusal:
                    outcome = refusal
            made.append(Conversion(one.tool.server, one.tool.name, outcome))
            await asyncio.sleep(0)
        return Conversions(tuple(made), request_problems(whole, asked.api))

    async def _found(self, asked: ToolsToConvert) -> list[_Found]:
        most = self._limits.batch_items
        if len(asked.tools) > most:
            raise exceeded("batch_items", most, "the tools", len(asked.tools))
        found = []
        for tool in asked.tools:
            if not isinstance(tool.target, Refusal):
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
                raise Refusal(Reason.INVALID_REQUEST, said, metadata)
            if more or len(bindings) > left:
                raise exceeded("batch_items", most, "the tools, with those of servers")
            several = map(found_tool, bindings)
            found += [_Found(Named(one.server, one.name), one.definition) for one in several]
        return found

    def _one(self, asked: ToolToConvert) -> _Found:
        target = asked.target
        if isinstance(target, Refusal):
            return _Found(Named(asked.server, ""), target)
        try:
            found = self._validator.definition(target)
        except Refusal as refusal:
            server, name = self._names_of(target)
            return _Found(Named(asked.server or server, name), refusal)
        return _Found(Named(asked.server or found.server, found.name), found.definition)

    def _names_of(self, target: Target) -> tuple[str, str]:
        """Return the server and the name that *target* tells of a tool that was not found."""
        if isinstance(target, RegisteredTool):
            return target.server, target.name
        if isinstance(target, InlineTool):
            try:
                return "", name_of(decoded_tool(target.json, self._limits))
            except (MalformedError, Refusal):
                pass
        return "", ""

    async def _all_forms(
        self, tools: Sequence[_Found], api: Api, options: ConversionOptions
    ) -> list[Form | Refusal]:
        forms: list[Form | Refusal] = []
        length, most = 0, self._limits.message_bytes
        for start in range(0, len(tools), AT_ONCE):
            several = tools[start : start + AT_ONCE]
            made = await asyncio.gather(*(self._form(one, api, options) for one in several))
            forms += made
            length += sum(form.length for form in made if isinstance(form, Form))
            if length > most:
                raise exceeded("message_bytes", most, "the converted tools")
        return forms

    async def _form(self, one: _Found, api: Api, options: ConversionOptions) -> Form | Refusal:
        if isinstance(one.definition, Refusal):
            return one.definition
        try:
            return await self._forms.form(one.definition, api, options)
        except Refusal as refusal:
            return refusal

    async def _within_request(
        self, tools: Sequence[_Found], forms: Sequence[Form | Refusal], asked: ToolsToConvert
    ) -> tuple[list[Form | Refusal], list[str]]:
        """Return *forms* with those compatible that may not be strict beside the others.

        And why they may not, or "", for each.
        """
        whole = [form for form in forms if isinstance(form, Form)]
        found = iter(reasons_against_strict(whole, asked.api))
        reasons = [next(found) if isinstance(form, Form) else "" for form in forms]
        options = replace(asked.options, mode=Mode.COMPATIBLE)
        beyond = [one for one, why_not in zip(tools, reasons, strict=True) if why_not]
        again = iter(await self._all_forms(beyond, asked.api, options))
        kept = [
            next(again) if why_not else form for form, why_not in zip(forms, reasons, strict=True)
        ]
        return kept, reasons


def _without_doubles(tools: Sequence[_Found]) -> list[_Found]:
    """Return *tools* with a refusal of each that has the server and name of a later one."""
    last = {
        one.tool: place
        for place, one in enumerate(tools)
        if not isinstance(one.definition, Refusal)
    }
    return [
        one if last.get(one.tool, place) <= place else _Found(one.tool, _double(one))
        for place, one in enumerate(tools)
    ]


def _double(one: _Found) -> Refusal:
    if isinstance(one.definition, Refusal):
        return one.definition
    said = f"another tool of the request has the name {one.tool.name[:128]!r} too; the last counts"
    return Refusal(Reason.INVALID_REQUEST, said, {"field": "tools", "tool": one.tool.name[:128]})


async def _named(tools: Sequence[_Found], asked: ToolsToConvert) -> dict[Named, str]:
    """Return the names in the API of all tools that were found."""
    named = [one.tool for one in tools if not isinstance(one.definition, Refusal)]
    arguments = (named, asked.api.names, asked.options.server_prefix)
    if len(named) <= _FEW:
        names = tool_names(*arguments)
    else:
        names = await asyncio.to_thread(tool_names, *arguments)
    return dict(zip(named, names, strict=True))
