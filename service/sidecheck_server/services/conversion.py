"""Conversion of tools to APIs of model providers, and its cache."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.convert.batch import BatchTool, ToolBatch
from sidecheck_server.core.convert.converted_tool import ConvertedTool, ToolForm
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi, ServerPrefix
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.tool_definitions import read_tool, read_tool_name
from sidecheck_server.core.types import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.services.cache import DEFAULT_SHARES, Begin, Cache, weigh_entry
from sidecheck_server.services.offload import OffloadRule, Work, concurrent_groups, steps_of
from sidecheck_server.services.request_work import BatchBudget, charge_work, current_work
from sidecheck_server.services.resolution import TargetResolver, registered_tool
from sidecheck_server.services.targets import InlineTool, RegisteredTool, Target
from sidecheck_server.workers.tasks import ConvertTool, RunTask

__all__ = [
    "Conversion",
    "ConversionCache",
    "Conversions",
    "Converter",
    "ToolToConvert",
    "ToolsToConvert",
]

_ENTRY_STEPS = 10_000
"""Fixed steps of converting a definition, whatever its length, and of looking it up."""


@dataclass(frozen=True, slots=True)
class _Key:
    # The text rather than its digest: definitions that differ only in the order of properties
    # have the same digest, but models see that order.
    definition: InlineTool
    api: ModelApi
    options: ConversionOptions


class ConversionCache:
    """Converts definitions, and caches *memory* bytes of results."""

    def __init__(
        self,
        run: RunTask,
        limits: Limits,
        memory: int = DEFAULT_SHARES.conversions,
    ) -> None:
        self._run = run
        self._limits = limits
        self._inline_limits = replace(limits, steps=min(limits.steps, limits.inline_steps))
        self._offload = OffloadRule(limits)
        # One conversion in the event loop at a time, so that other calls run in between.
        self._lock = asyncio.Lock()
        self._cache: Cache[_Key, ToolForm] = Cache(memory, weigh_entry)

    @property
    def cache(self) -> Cache[Any, ToolForm]:
        """The cache, for metrics."""
        return self._cache

    async def convert(
        self, definition: InlineTool, api: Provider, options: ConversionOptions
    ) -> ToolForm:
        """Return *definition* converted to *api*.

        Raises:
            RequestError: as `ConvertTool`; LIMIT_EXCEEDED if it takes too much
                time or memory; WORKER_CRASHED.
        """
        # The prefix does not matter here: names are assigned later.
        options = replace(options, server_prefix=ServerPrefix.AUTOMATIC)

        async def compute(_: Begin) -> ToolForm:
            async with self._lock:
                await asyncio.sleep(0)
                form = self._try_inline(definition, api, options)
            if form is not None:
                return form
            task = ConvertTool(definition.json, definition.documents, api.key, options)
            return await self._run(task)

        return await self._cache.get(_Key(definition, api.key, options), compute)

    def _try_inline(
        self, definition: InlineTool, api: Provider, options: ConversionOptions
    ) -> ToolForm | None:
        """Return the converted definition, or None if it takes too many steps."""
        if not self._offload.runs_inline(Work.CONVERT_DEFINITION, definition.size):
            return None
        charge_work(_ENTRY_STEPS + steps_of(Work.CONVERT_DEFINITION, definition.json))
        try:
            tool = read_tool(definition.json, definition.documents, self._inline_limits)
            return convert_definition(tool, api, options, self._inline_limits)
        except RequestError as error:
            if error.metadata.get("bound") == "steps":
                return None
            raise


@dataclass(frozen=True, slots=True)
class ToolToConvert:
    """A tool to convert."""

    #: The target of the tool, or the error of reading it from the request.
    target: Target | RequestError
    #: The server that offers the tool, or "" for the one for which it is registered.
    server: str = ""


@dataclass(frozen=True, slots=True)
class ToolsToConvert:
    """The tools to convert for one request to an API."""

    api: Provider
    options: ConversionOptions
    tools: tuple[ToolToConvert, ...]
    #: Servers whose registered tools are converted after *tools*.
    servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversion:
    """The conversion of one tool."""

    #: The server of the tool, or "".
    server: str
    #: The name of the tool, or "" if it cannot be read.
    name: str
    outcome: ConvertedTool | RequestError


@dataclass(frozen=True, slots=True)
class Conversions:
    """The conversions of all tools of a request."""

    #: In the order of the request.
    tools: tuple[Conversion, ...]
    #: The verdict on the converted tools as one request to the API.
    request: Verdict


class Converter:
    """Converts tools to the formats of model providers' APIs."""

    def __init__(
        self, resolver: TargetResolver, registry: Registry, cache: ConversionCache, limits: Limits
    ) -> None:
        self._resolver = resolver
        self._registry = registry
        self._cache = cache
        self._limits = limits
        self._offload = OffloadRule(limits)

    async def convert(self, request: ToolsToConvert) -> Conversions:
        """Return the conversion of each tool, and the verdict on the whole request.

        Raises:
            RequestError: LIMIT_EXCEEDED for more than ``batch_items`` tools, or if the
                response is too large; INVALID_REQUEST for a server without tools.
        """
        options = self._with_version(request.options)
        batch = ToolBatch(await self._resolve(request), request.api, options)
        tools = batch.tools
        forms = await self._convert_all(tools, request.api, options)
        reasons = batch.not_strict_reasons(forms)
        not_strict = [tool for tool, reason in zip(tools, reasons, strict=True) if reason]
        fallbacks = iter(await self._convert_all(not_strict, request.api, batch.fallback))
        forms = [
            next(fallbacks) if reason else form for form, reason in zip(forms, reasons, strict=True)
        ]
        names = await self._offload.run(Work.ASSIGN_NAMES, len(tools), batch.names)
        budget, outcomes = BatchBudget(self._limits), []
        for outcome in batch.outcomes(forms, names, reasons):
            if isinstance(outcome, ConvertedTool):
                budget.charge_text(outcome.length, "the converted tools")
            outcomes.append(outcome)
            await asyncio.sleep(0)
        conversions = (
            Conversion(tool.tool.server, tool.tool.name, outcome)
            for tool, outcome in zip(tools, outcomes, strict=True)
        )
        return Conversions(tuple(conversions), batch.check(forms, outcomes))

    def _with_version(self, options: ConversionOptions) -> ConversionOptions:
        """Return *options* with the protocol version, if the result depends on it."""
        if not options.include_output_schema:
            return replace(options, protocol_version="")
        version = options.protocol_version or self._resolver.default_version
        return replace(options, protocol_version=version)

    async def _resolve(self, request: ToolsToConvert) -> list[BatchTool[InlineTool]]:
        """Return the definitions of the tools, followed by those of the servers."""
        limit = self._limits.batch_items
        if len(request.tools) > limit:
            raise limit_exceeded_error("batch_items", limit, "the tools", len(request.tools))
        tools = []
        for tool in request.tools:
            tools.append(await self._resolve_tool(tool))
            # Reading a definition may hold the event loop for milliseconds.
            await asyncio.sleep(0)
        for server in request.servers:
            remaining = limit - len(tools)
            bindings, more = self._registry.page(server, None, remaining + 1, sys.maxsize)
            if not bindings:
                raise RequestError(
                    ErrorReason.INVALID_REQUEST,
                    f"no tool is registered for the server {server[:128]!r}",
                    {"field": "servers", "server": server[:128]},
                )
            if more or len(bindings) > remaining:
                raise limit_exceeded_error(
                    "batch_items", limit, "the tools, with those of the servers"
                )
            registered = map(registered_tool, bindings)
            tools += [
                BatchTool(ToolName(tool.server, tool.name), tool.definition) for tool in registered
            ]
        return tools

    async def _resolve_tool(self, tool: ToolToConvert) -> BatchTool[InlineTool]:
        target = tool.target
        if isinstance(target, RequestError):
            return BatchTool(ToolName(tool.server, ""), target)
        try:
            current_work().begin_item()
            resolved = await self._resolver.resolve_tool(target)
        except RequestError as error:
            server, name = self._names_of(target)
            return BatchTool(ToolName(tool.server or server, name), error)
        server = tool.server or resolved.server
        return BatchTool(ToolName(server, resolved.name), resolved.definition)

    def _names_of(self, target: Target) -> tuple[str, str]:
        """Return the server and the name of an unresolved tool, as far as known."""
        if isinstance(target, RegisteredTool):
            return target.server, target.name
        if isinstance(target, InlineTool):
            return "", read_tool_name(target.json, self._limits)
        return "", ""

    async def _convert_all(
        self, tools: Sequence[BatchTool[InlineTool]], api: Provider, options: ConversionOptions
    ) -> list[ToolForm | RequestError]:
        forms: list[ToolForm | RequestError] = []
        length, limit = 0, self._limits.message_bytes
        work = current_work()
        for part in concurrent_groups(map(_definition_size, tools)):
            group = tools[part]
            # Convert the first group even if reading has spent the budget.
            if part.start and work.is_spent:
                not_reached = work.not_reached()
                forms += [
                    tool.definition if isinstance(tool.definition, RequestError) else not_reached
                    for tool in group
                ]
                continue
            converted = await asyncio.gather(
                *(self._convert(tool.definition, api, options) for tool in group)
            )
            forms += converted
            length += sum(form.length for form in converted if isinstance(form, ToolForm))
            if length > limit:
                raise limit_exceeded_error("message_bytes", limit, "the converted tools")
        return forms

    async def _convert(
        self, definition: InlineTool | RequestError, api: Provider, options: ConversionOptions
    ) -> ToolForm | RequestError:
        if isinstance(definition, RequestError):
            return definition
        try:
            return await self._cache.convert(definition, api, options)
        except RequestError as error:
            return error


def _definition_size(tool: BatchTool[InlineTool]) -> int:
    return 0 if isinstance(tool.definition, RequestError) else tool.definition.size
