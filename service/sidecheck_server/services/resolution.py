"""Resolution of targets: from what a request names to compiled schemas and tools."""

import sys
from dataclasses import dataclass, replace

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES, find_nearest
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool, adapt_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Definition
from sidecheck_server.services.cache import DEFAULT_SHARES, Begin, Cache, weigh_entry
from sidecheck_server.services.offload import OffloadRule, Work
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import (
    DefinitionDigest,
    InlineTool,
    RegisteredTool,
    SchemaDigest,
    Side,
    Target,
)

__all__ = [
    "ResolvedSchema",
    "ResolvedTool",
    "TargetResolver",
    "ToolAdapter",
    "registered_tool",
    "require_binding",
]


class ToolAdapter:
    """Adapts tool definitions to protocol versions, and caches the results.

    They may take *memory* bytes.
    """

    def __init__(self, limits: Limits, memory: int = DEFAULT_SHARES.adapted_tools) -> None:
        self._limits = limits
        self._offload = OffloadRule(limits)
        # By the text of the definition and the protocol version.
        self._cache: Cache[tuple[bytes, str], AdaptedTool] = Cache(memory, weigh_entry)

    @property
    def cache(self) -> Cache[tuple[bytes, str], AdaptedTool]:
        """The cache, for metrics."""
        return self._cache

    async def adapt(self, definition: InlineTool, version: str) -> AdaptedTool:
        """Return *definition*, adapted to *version*.

        Raises:
            RequestError: as `adapt_tool`.
        """
        text = definition.json

        async def compute(_: Begin) -> AdaptedTool:
            return await self._offload.run(
                Work.ADAPT_DEFINITION, text, lambda: adapt_tool(text, version, self._limits)
            )

        return await self._cache.get((text, version), compute)


"""How many characters of a name an error repeats."""


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """A tool that a target names."""

    #: The server that it is registered for, or "".
    server: str
    name: str
    definition: InlineTool
    definition_digest: str
    #: The digest of its output schema, or "" if it has none.
    output_schema_digest: str
    #: Whether the caller should act on verdicts.
    enforced: bool = True


def require_binding(registry: Registry, server: str, name: str) -> Binding:
    """Return the binding of *name* in the namespace of *server*.

    Raises:
        RequestError: UNKNOWN_TOOL if there is none, with the nearest name that there is.
    """
    binding = registry.find(server, name)
    if binding is None:
        raise _unknown_tool(registry, server, name)
    return binding


def _unknown_tool(registry: Registry, server: str, name: str) -> RequestError:
    message = f"no tool {name[:_SHOWN]!r} is registered for the server {server[:_SHOWN]!r}"
    metadata = {"server": server[:_SHOWN], "tool": name[:_SHOWN]}
    names = _names_to_compare(registry, server, name)
    nearest = find_nearest(name, names)
    if nearest:
        message += f"; did you mean {nearest!r}?"
        metadata["nearest"] = nearest
    elif not names:
        message += ", which has no tools"
    return RequestError(ErrorReason.UNKNOWN_TOOL, message, metadata)


def _names_to_compare(registry: Registry, server: str, name: str) -> list[str]:
    """Return names of *server*: those from the first letter of *name* on, and the first ones.

    A server may have a hundred thousand tools, and most misspellings keep the first letter.
    """
    half = MOST_CANDIDATES // 2
    names: dict[str, None] = {}
    for after in ((server, name[:1]), None):
        bindings, _ = registry.page(server, after, half, sys.maxsize)
        names.update((binding.name, None) for binding in bindings)
    return list(names)


def registered_tool(binding: Binding) -> ResolvedTool:
    """Return the tool of *binding*."""
    definition = binding.definition
    return ResolvedTool(
        binding.server,
        definition.name,
        InlineTool(definition.json, definition.documents),
        definition.digest,
        definition.output_schema_digest or "",
    )


# How many characters of a name, and of a digest, an error repeats.
_SHOWN = 128
_SHOWN_DIGEST = 80


@dataclass(frozen=True, slots=True)
class ResolvedSchema:
    """A compiled schema, and the tool that it belongs to."""

    compiled: CompiledSchema
    #: The digest of the schema as the tool defines it.
    schema_digest: str
    #: The digest of the definition, or "" for a bare schema.
    definition_digest: str = ""
    #: The name of the tool, or "" for a bare schema.
    tool: str = ""
    #: Whether the caller should act on verdicts.
    enforced: bool = True
    #: Of an output schema that adapting to the protocol version wraps or unwraps: the schema
    #: as the tool defines it.
    unadapted: CompiledSchema | None = None
    #: The property of structured content with the value, in the form that is wrapped.
    wrapped_property: str = ""
    #: Whether *compiled* is the form that is wrapped.
    wraps: bool = False


class TargetResolver:
    """Resolves targets to schemas and tools.

    Verdicts about the tools of the servers in *report_only* are not enforced. The protocol
    version *default_version* applies where neither a request nor a registration names one.
    Inline tools that were read may take *memory* bytes.
    """

    def __init__(
        self,
        registry: Registry,
        schemas: CompiledSchemas,
        adapter: ToolAdapter,
        limits: Limits,
        report_only: frozenset[str] = frozenset(),
        default_version: str = DEFAULT_VERSION,
        memory: int = DEFAULT_SHARES.inline_tools,
    ) -> None:
        self._registry = registry
        self._schemas = schemas
        self._adapter = adapter
        self._limits = limits
        self._report_only = report_only
        #: The protocol version of requests and registrations that name none.
        self.default_version = default_version
        self._offload = OffloadRule(limits)
        self._inline_tools: Cache[InlineTool, ToolDefinition] = Cache(memory, weigh_entry)

    @property
    def cache(self) -> Cache[InlineTool, ToolDefinition]:
        """The cache of tools that requests contain, for metrics."""
        return self._inline_tools

    def version_of(self, target: Target | None, named: str) -> str:
        """Return the protocol version that applies to *target*.

        It is the one that the request *named*, or else the one that the tool was registered
        under, or the default.
        """
        if named:
            return named
        binding = None
        if isinstance(target, RegisteredTool):
            binding = self._registry.find(target.server, target.name)
        elif isinstance(target, DefinitionDigest):
            binding = self._registry.bound_to(target.digest)
        return self.default_version if binding is None else binding.definition.protocol_version

    def context_of(self, target: Target | None, context: Context) -> Context:
        """Return *context*, of a request that names no version, with that of *target*."""
        return replace(context, version=self.version_of(target, ""))

    async def resolve_schema(
        self, target: Target, side: Side, version: str, *, assert_formats: bool
    ) -> ResolvedSchema:
        """Return the schema that *target* names; of a tool, the one for *side*.

        The output schema of a tool is adapted to the protocol *version*. Bare schemas are
        not: they may belong to anything.

        Raises:
            RequestError: the target is unknown, or its definition or schema is invalid;
                NO_OUTPUT_SCHEMA if the tool has none.
        """
        if isinstance(target, SchemaSource):
            source = replace(target, assert_formats=assert_formats)
            compiled = await self._schemas.inline(source)
            return ResolvedSchema(compiled, compiled.digest)
        if isinstance(target, InlineTool):
            tool = await self._read(target)
            source = replace(_schema_of(tool, side), assert_formats=assert_formats)
            compiled = await self._schemas.inline(source)
            schema = ResolvedSchema(compiled, compiled.digest, tool.digest, tool.name)
            definition, registered = InlineTool(tool.json, target.documents), False
        elif isinstance(target, SchemaDigest):
            stored, side = self._find_schema(target)
            compiled = await self._compile(stored, side, assert_formats=assert_formats)
            return ResolvedSchema(compiled, compiled.digest)
        else:
            stored = self._find(target).definition
            compiled = await self._compile(stored, side, assert_formats=assert_formats)
            enforced = self._is_enforced(target)
            schema = ResolvedSchema(compiled, compiled.digest, stored.digest, stored.name, enforced)
            definition, registered = InlineTool(stored.json, stored.documents), True
        if side is Side.INPUT:
            return schema
        return await self._adapt(
            schema, definition, version, registered=registered, assert_formats=assert_formats
        )

    async def _adapt(
        self,
        schema: ResolvedSchema,
        definition: InlineTool,
        version: str,
        *,
        registered: bool,
        assert_formats: bool,
    ) -> ResolvedSchema:
        """Return *schema*, the output schema of *definition*, adapted to *version*."""
        adapted = await self._adapter.adapt(definition, version)
        if adapted.output is None or not adapted.wraps_output:
            return schema
        tool = await self._read(InlineTool(adapted.json, definition.documents))
        source = replace(_schema_of(tool, Side.OUTPUT), assert_formats=assert_formats)
        if registered and tool.output_digest is not None:
            digest = tool.output_digest
            compiled = await self._schemas.registered(digest, source, assert_formats=assert_formats)
        else:
            compiled = await self._schemas.inline(source)
        wrapped = adapted.output.wrapped_property
        return replace(
            schema,
            compiled=compiled,
            unadapted=schema.compiled,
            wrapped_property=wrapped or adapted.output.unwrapped_property,
            wraps=bool(wrapped),
        )

    async def resolve_tool(self, target: Target, field: str = "tool") -> ResolvedTool:
        """Return the tool that *target* names; *field* is the target's field in the request.

        Raises:
            RequestError: INVALID_REQUEST if it names a bare schema; the target is unknown,
                or its definition is invalid.
        """
        if isinstance(target, InlineTool):
            tool = await self._read(target)
            definition = InlineTool(tool.json, target.documents)
            return ResolvedTool("", tool.name, definition, tool.digest, tool.output_digest or "")
        if isinstance(target, SchemaSource | SchemaDigest):
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"{field} names a bare schema; expected a tool",
                {"field": field},
            )
        resolved = registered_tool(self._find(target))
        return resolved if self._is_enforced(target) else replace(resolved, enforced=False)

    async def _read(self, tool: InlineTool) -> ToolDefinition:
        async def compute(_: Begin) -> ToolDefinition:
            return await self._offload.run(
                Work.READ_DEFINITION,
                tool.json,
                lambda: read_tool(tool.json, tool.documents, self._limits),
            )

        return await self._inline_tools.get(tool, compute)

    def _is_enforced(self, target: Target) -> bool:
        return not (isinstance(target, RegisteredTool) and target.server in self._report_only)

    def _find(self, target: RegisteredTool | DefinitionDigest) -> Binding:
        if isinstance(target, DefinitionDigest):
            binding = self._registry.bound_to(target.digest)
            if binding is None:
                raise _unknown(ErrorReason.UNKNOWN_DEFINITION, "definition", target.digest)
            return binding
        binding = require_binding(self._registry, target.server, target.name)
        registered = binding.definition.digest
        if target.pinned and target.pinned != registered:
            raise RequestError(
                ErrorReason.DEFINITION_MISMATCH,
                f"the registered definition of the tool {target.name[:_SHOWN]!r} "
                "is not the pinned one",
                {"pinned": target.pinned[:_SHOWN], "registered": registered},
            )
        return binding

    def _find_schema(self, target: SchemaDigest) -> tuple[Definition, Side]:
        match = self._registry.schema(target.digest)
        if match is None:
            raise _unknown(ErrorReason.UNKNOWN_SCHEMA, "schema", target.digest)
        definition, side = match
        return definition, Side(side)

    async def _compile(
        self, definition: Definition, side: Side, *, assert_formats: bool
    ) -> CompiledSchema:
        output = definition.output_schema_digest
        digest = definition.input_schema_digest if side is Side.INPUT else output
        if digest is None:
            raise _no_output_schema(definition.name)

        def source() -> SchemaSource:
            tool = read_tool(definition.json, definition.documents, self._limits)
            return replace(_schema_of(tool, side), assert_formats=assert_formats)

        return await self._schemas.registered(digest, source, assert_formats=assert_formats)


def _schema_of(tool: ToolDefinition, side: Side) -> SchemaSource:
    if side is Side.INPUT:
        return tool.input
    if tool.output is None:
        raise _no_output_schema(tool.name)
    return tool.output


def _no_output_schema(tool: str) -> RequestError:
    return RequestError(
        ErrorReason.NO_OUTPUT_SCHEMA,
        f"the tool {tool[:_SHOWN]!r} has no output schema to validate structured content against",
        {"tool": tool[:_SHOWN]},
    )


def _unknown(reason: ErrorReason, kind: str, digest: str) -> RequestError:
    shown = digest[:_SHOWN_DIGEST]
    return RequestError(reason, f"no registered {kind} has the digest {shown!r}", {"digest": shown})
