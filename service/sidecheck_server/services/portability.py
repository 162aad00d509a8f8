"""Portable forms of definitions, and proofs that they accept what the originals accept."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from sidecheck_server.core.convert.converted_tool import ConvertedTool, build_converted_tool
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers import find_provider
from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi, ServerPrefix
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool_name
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool
from sidecheck_server.core.portability.decoded_schema import CannotDecodeError
from sidecheck_server.core.portability.proof import (
    PortabilityProof,
    decode_definition,
    read_proof,
    undecided_proof,
)
from sidecheck_server.services.comparison import ToolComparer
from sidecheck_server.services.conversion import ConversionCache
from sidecheck_server.services.offload import OffloadRule, Work
from sidecheck_server.services.resolution import ResolvedTool, ToolAdapter
from sidecheck_server.services.targets import InlineTool

__all__ = ["PortabilityProver", "PortableAdapter", "PortableTool"]


class PortabilityProver:
    """Compares definitions with their portable forms."""

    def __init__(self, adapter: ToolAdapter, comparer: ToolComparer, limits: Limits) -> None:
        self._adapter = adapter
        self._comparer = comparer
        self._limits = limits
        self._offload = OffloadRule(limits)

    async def prove(
        self, definition: InlineTool, converted: ConvertedTool, version: str
    ) -> PortabilityProof:
        """Return the relation of *converted* to *definition*, in the form for *version*.

        Raises:
            RequestError: as `ToolAdapter.adapt`; LIMIT_EXCEEDED.
        """
        # Adapting to a version changes results by design.
        original = (await self._adapter.adapt(definition, version)).json
        portable = (await self._adapter.adapt(InlineTool(converted.json), version)).json
        name = read_tool_name(original, self._limits)
        try:
            decoded = await self._offload.run(
                Work.ADAPT_DEFINITION,
                portable,
                lambda: decode_definition(portable, converted.mapping, name),
            )
        except CannotDecodeError as error:
            reason = f"calls take another form that a proof cannot follow: {error.reason}"
            return undecided_proof(reason)
        documents = definition.documents
        comparison = await self._comparer.compare(
            [InlineTool(original, documents)], [InlineTool(decoded, documents)]
        )
        return read_proof(comparison.tools[0], converted.losses)


@dataclass(frozen=True, slots=True)
class PortableTool:
    """A definition that model APIs and clients accept as it is."""

    #: The portable definition, in the form for a protocol version.
    tool: AdaptedTool
    #: The conversion, with its losses and the mapping.
    converted: ConvertedTool
    #: None if no proof was requested.
    proof: PortabilityProof | None


class PortableAdapter:
    """Adapts definitions to model APIs and clients, and to protocol versions."""

    def __init__(
        self,
        conversions: ConversionCache,
        adapter: ToolAdapter,
        prover: PortabilityProver,
        limits: Limits,
    ) -> None:
        self._conversions = conversions
        self._adapter = adapter
        self._prover = prover
        self._offload = OffloadRule(limits)

    async def adapt(
        self, tool: ResolvedTool, version: str, targets: Iterable[str] = (), *, prove: bool = False
    ) -> PortableTool:
        """Return the form of *tool* that *targets* accept, in the form for *version*.

        No *targets* are the default ones. With *prove*, the form is compared with *tool*.

        Raises:
            RequestError: as `ConversionCache.convert` and `ToolAdapter.adapt`.
        """
        selected = frozenset(targets) or DEFAULT_TARGETS
        options = ConversionOptions(
            server_prefix=ServerPrefix.NEVER,
            include_output_schema=True,
            protocol_version=version,
            targets=() if selected == DEFAULT_TARGETS else tuple(sorted(selected)),
        )
        provider = find_provider(ModelApi.MCP, options)
        form = await self._conversions.convert(tool.definition, provider, options)
        names = ToolName(tool.server, tool.name)
        [name] = await self._offload.run(
            Work.ASSIGN_NAMES,
            1,
            lambda: assign_tool_names([names], provider.tool_names, options.server_prefix),
        )
        converted = build_converted_tool(form, names, name, provider)
        await asyncio.sleep(0)
        adapted = await self._adapter.adapt(InlineTool(converted.json), version)
        proof = None
        if prove:
            proof = await self._prover.prove(tool.definition, converted, version)
        return PortableTool(adapted, converted, proof)
