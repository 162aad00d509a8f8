"""Resolution of targets: from what a request names to compiled schemas and tools."""

from dataclasses import dataclass, replace

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Definition
from sidecheck_server.services.cache import Begin, Cache
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

__all__ = ["ResolvedSchema", "ResolvedTool", "TargetResolver", "registered_tool", "require_binding"]

_INLINE_TOOLS_BYTES = 64 << 20
"""The text of all parsed inline tools that are cached."""

# How many characters of a name, and of a digest, an error repeats.
_SHOWN = 128
_SHOWN_DIGEST = 80


@dataclass(frozen=True, slots=True)
class ResolvedSchema:
    """A compiled schema, and the tool that it belongs to."""

    compiled: CompiledSchema
    #: The digest of the definition, or "" for a bare schema.
    definition_digest: str = ""
    #: The name of the tool, or "" for a bare schema.
    tool: str = ""
    #: Whether the caller should act on verdicts.
    enforced: bool = True

    @property
    def schema_digest(self) -> str:
        """The digest of the schema."""
        return self.compiled.digest


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


class TargetResolver:
    """Resolves targets to schemas and tools.

    Verdicts about the tools of the servers in *report_only* are not enforced.
    """

    def __init__(
        self,
        registry: Registry,
        schemas: CompiledSchemas,
        limits: Limits,
        report_only: frozenset[str] = frozenset(),
    ) -> None:
        self._registry = registry
        self._schemas = schemas
        self._limits = limits
        self._report_only = report_only
        self._offload = OffloadRule(limits)
        self._inline_tools: Cache[InlineTool, ToolDefinition] = Cache(_INLINE_TOOLS_BYTES, _weight)

    async def resolve_schema(
        self, target: Target, side: Side, *, assert_formats: bool
    ) -> ResolvedSchema:
        """Return the schema that *target* names; of a tool, the one for *side*.

        Raises:
            RequestError: the target is unknown, or its definition or schema is invalid;
                NO_OUTPUT_SCHEMA if the tool has none.
        """
        if isinstance(target, SchemaSource):
            source = replace(target, assert_formats=assert_formats)
            return ResolvedSchema(await self._schemas.inline(source))
        if isinstance(target, InlineTool):
            tool = await self._read(target)
            source = replace(_schema_of(tool, side), assert_formats=assert_formats)
            return ResolvedSchema(await self._schemas.inline(source), tool.digest, tool.name)
        if isinstance(target, SchemaDigest):
            definition, side = self._find_schema(target)
            compiled = await self._compile(definition, side, assert_formats=assert_formats)
            return ResolvedSchema(compiled)
        definition = self._find(target).definition
        compiled = await self._compile(definition, side, assert_formats=assert_formats)
        enforced = self._is_enforced(target)
        return ResolvedSchema(compiled, definition.digest, definition.name, enforced)

    async def resolve_tool(self, target: Target, field: str = "tool") -> ResolvedTool:
        """Return the tool that *target* names; *field* is the target's field in the request.

        Raises:
            RequestError: INVALID_REQUEST if it names a bare schema; the target is unknown,
                or its definition is invalid.
        """
        if isinstance(target, InlineTool):
            tool = await self._read(target)
            return ResolvedTool("", tool.name, target, tool.digest, tool.output_digest or "")
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
                len(tool.json),
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


def require_binding(registry: Registry, server: str, name: str) -> Binding:
    """Return the binding of *name* in the namespace of *server*.

    Raises:
        RequestError: UNKNOWN_TOOL if there is none.
    """
    binding = registry.find(server, name)
    if binding is None:
        server, name = server[:_SHOWN], name[:_SHOWN]
        raise RequestError(
            ErrorReason.UNKNOWN_TOOL,
            f"no tool {name!r} is registered for the server {server!r}",
            {"server": server, "tool": name},
        )
    return binding


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


def _weight(tool: InlineTool, outcome: ToolDefinition | RequestError) -> int:
    if isinstance(outcome, RequestError):
        return tool.size + sum(violation.length for violation in outcome.violations)
    schemas = [schema for schema in (outcome.input, outcome.output) if schema is not None]
    return tool.size + sum(len(schema.json) for schema in schemas)
