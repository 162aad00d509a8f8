"""Resolution of targets to compiled schemas and tools."""

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


# Decision 0039: one canonical definition is stored, and adapted to a version on demand.
class ToolAdapter:
    """Adapts definitions to protocol versions; caches *memory* bytes of results."""

    def __init__(self, limits: Limits, memory: int = DEFAULT_SHARES.adapted_tools) -> None:
        self._limits = limits
        self._offload = OffloadRule(limits)
        # Keys: the text of the definition, and the protocol version.
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


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """The tool of a target."""

    #: The server for which it is registered, or "".
    server: str
    name: str
    definition: InlineTool
    definition_digest: str
    #: The digest of its output schema, or "".
    output_schema_digest: str
    #: Whether the caller should act on verdicts.
    enforced: bool = True


def require_binding(registry: Registry, server: str, name: str) -> Binding:
    """Return the binding of *name* in the namespace of *server*.

    Raises:
        RequestError: UNKNOWN_TOOL if there is none, with the nearest registered name.
    """
    binding = registry.find(server, name)
    if binding is None:
        raise _unknown_tool_error(registry, server, name)
    return binding


def _unknown_tool_error(registry: Registry, server: str, name: str) -> RequestError:
    shown_name, shown_server = name[:_MAX_NAME_CHARACTERS], server[:_MAX_NAME_CHARACTERS]
    message = f"no tool {shown_name!r} is registered for the server {shown_server!r}"
    metadata = {"server": shown_server, "tool": shown_name}
    names = _names_to_compare(registry, server, name)
    nearest = find_nearest(name, names)
    if nearest:
        message += f"; did you mean {nearest!r}?"
        metadata["nearest"] = nearest
    elif not names:
        message += ", which has no tools"
    return RequestError(ErrorReason.UNKNOWN_TOOL, message, metadata)


def _names_to_compare(registry: Registry, server: str, name: str) -> list[str]:
    """Return a sample of the names of *server* to compare with *name*.

    A server may have a hundred thousand tools, and most misspellings keep the first letter. So
    half of the sample starts at that letter, and half at the first name.
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


# Maximum characters of a name, and of a digest, in an error message.
_MAX_NAME_CHARACTERS = 128
_MAX_DIGEST_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class ResolvedSchema:
    """A compiled schema, and the tool to which it belongs."""

    compiled: CompiledSchema
    #: The digest of the schema as the tool defines it.
    schema_digest: str
    #: The digest of the definition, or "" for a bare schema.
    definition_digest: str = ""
    #: The name of the tool, or "" for a bare schema.
    tool: str = ""
    #: Whether the caller should act on verdicts.
    enforced: bool = True
    #: The output schema as the tool defines it, if the protocol version wraps or unwraps it.
    unadapted: CompiledSchema | None = None
    #: The property that holds the value in the wrapped form of structured content.
    wrapped_property: str = ""
    #: Whether *compiled* is the wrapped form.
    wraps: bool = False


class TargetResolver:
    """Resolves targets to schemas and tools.

    Verdicts about tools of the servers in *report_only* are not enforced. The protocol version
    *default_version* applies where neither a request nor a registration names one. *memory* is
    the capacity in bytes of the cache of inline tools.
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
        """The cache of inline tools, for metrics."""
        return self._inline_tools

    # Decision 0042: the default causes the fewest false alarms about peers of unknown version.
    def version_of(self, target: Target | None, requested: str) -> str:
        """Return the protocol version that applies to *target*.

        This is the version *requested*, or else the version under which the tool was
        registered, or else the default.
        """
        if requested:
            return requested
        binding = None
        if isinstance(target, RegisteredTool):
            binding = self._registry.find(target.server, target.name)
        elif isinstance(target, DefinitionDigest):
            binding = self._registry.bound_to(target.digest)
        return self.default_version if binding is None else binding.definition.protocol_version

    def context_of(self, target: Target | None, context: Context) -> Context:
        """Return *context* with the protocol version of *target*."""
        return replace(context, version=self.version_of(target, ""))

    async def resolve_schema(
        self, target: Target, side: Side, version: str, *, assert_formats: bool
    ) -> ResolvedSchema:
        """Return the schema of *target*, or the schema of its tool for *side*.

        The output schema of a tool is adapted to the protocol *version*. A bare schema is not
        adapted, since it need not be an output schema.

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
        """Return the tool of *target*; *field* is the field of the target in the request.

        Raises:
            RequestError: INVALID_REQUEST if the target is a bare schema; the target is unknown,
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

    # Decision 0020: the operator decides which servers are only reported on.
    def _is_enforced(self, target: Target) -> bool:
        return not (isinstance(target, RegisteredTool) and target.server in self._report_only)

    def _find(self, target: RegisteredTool | DefinitionDigest) -> Binding:
        if isinstance(target, DefinitionDigest):
            binding = self._registry.bound_to(target.digest)
            if binding is None:
                raise _unknown_digest_error(
                    ErrorReason.UNKNOWN_DEFINITION, "definition", target.digest
                )
            return binding
        binding = require_binding(self._registry, target.server, target.name)
        registered = binding.definition.digest
        if target.pinned and target.pinned != registered:
            raise RequestError(
                ErrorReason.DEFINITION_MISMATCH,
                f"the registered definition of the tool {target.name[:_MAX_NAME_CHARACTERS]!r} "
                "is not the pinned one",
                {"pinned": target.pinned[:_MAX_NAME_CHARACTERS], "registered": registered},
            )
        return binding

    def _find_schema(self, target: SchemaDigest) -> tuple[Definition, Side]:
        match = self._registry.schema(target.digest)
        if match is None:
            raise _unknown_digest_error(ErrorReason.UNKNOWN_SCHEMA, "schema", target.digest)
        definition, side = match
        return definition, Side(side)

    async def _compile(
        self, definition: Definition, side: Side, *, assert_formats: bool
    ) -> CompiledSchema:
        output = definition.output_schema_digest
        digest = definition.input_schema_digest if side is Side.INPUT else output
        if digest is None:
            raise _no_output_schema_error(definition.name)

        def source() -> SchemaSource:
            tool = read_tool(definition.json, definition.documents, self._limits)
            return replace(_schema_of(tool, side), assert_formats=assert_formats)

        return await self._schemas.registered(digest, source, assert_formats=assert_formats)


def _schema_of(tool: ToolDefinition, side: Side) -> SchemaSource:
    if side is Side.INPUT:
        return tool.input
    if tool.output is None:
        raise _no_output_schema_error(tool.name)
    return tool.output


def _no_output_schema_error(tool: str) -> RequestError:
    shown = tool[:_MAX_NAME_CHARACTERS]
    return RequestError(
        ErrorReason.NO_OUTPUT_SCHEMA,
        f"the tool {shown!r} has no output schema to validate structured content against",
        {"tool": shown},
    )


def _unknown_digest_error(reason: ErrorReason, kind: str, digest: str) -> RequestError:
    shown = digest[:_MAX_DIGEST_CHARACTERS]
    return RequestError(reason, f"no registered {kind} has the digest {shown!r}", {"digest": shown})
