"""Validation: from a target and a payload to a verdict."""

from dataclasses import dataclass, replace
from typing import assert_never

from cachetools import LRUCache

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.judge import Judging, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools import ToolDefinition, read_tool
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.words import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.state.schemas import CompiledSchemas
from sidecheck_server.state.targets import (
    DefinitionDigest,
    InlineTool,
    RegisteredTool,
    SchemaDigest,
    Side,
    Target,
)

__all__ = ["Judged", "Validation", "Validator"]

_INLINE_TOOLS_BYTES = 64 << 20
"""How much text the tools may have together that were sent along and stay read."""


@dataclass(frozen=True, slots=True)
class Validation:
    """One payload and everything that decides its verdict."""

    target: Target
    side: Side
    payload: bytes
    how: Judging
    assert_formats: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and what was judged under."""

    verdict: Verdict
    #: The digest of the definition, or "" for a bare schema.
    definition_digest: str
    schema_digest: str
    #: The name of the tool, or "" for a bare schema.
    tool: str


class Validator:
    """Judges payloads under targets."""

    def __init__(self, registry: Registry, schemas: CompiledSchemas, limits: Limits) -> None:
        self._registry = registry
        self._schemas = schemas
        self._limits = limits
        self._inline_tools: LRUCache[InlineTool, ToolDefinition] = LRUCache(
            _INLINE_TOOLS_BYTES, getsizeof=_size
        )

    async def validate(self, validation: Validation) -> Judged:
        """Return the verdict on one payload.

        Raises:
            Refusal: the target is unknown or broken, or a limit is exceeded.
        """
        target = validation.target
        if isinstance(target, SchemaSource):
            source = replace(target, assert_formats=validation.assert_formats)
            compiled = await self._schemas.inline(source)
            return _judged(compiled, validation)
        if isinstance(target, InlineTool):
            tool = self._read(target)
            source = replace(_side(tool, validation.side), assert_formats=validation.assert_formats)
            compiled = await self._schemas.inline(source)
            return _judged(compiled, validation, tool.digest, tool.name)
        definition, side = self._find(target, validation.side)
        compiled = await self._compiled(definition, side, assert_formats=validation.assert_formats)
        if isinstance(target, SchemaDigest):
            return _judged(compiled, validation)
        return _judged(compiled, validation, definition.digest, definition.name)

    def _read(self, target: InlineTool) -> ToolDefinition:
        tool = self._inline_tools.get(target)
        if tool is None:
            tool = read_tool(target.json, target.documents, self._limits)
            self._inline_tools[target] = tool
        return tool

    def _find(
        self, target: RegisteredTool | DefinitionDigest | SchemaDigest, side: Side
    ) -> tuple[Definition, Side]:
        match target:
            case RegisteredTool():
                return self._named(target), side
            case DefinitionDigest():
                definition = self._registry.definition(target.digest)
                if definition is None:
                    raise _unknown(Reason.UNKNOWN_DEFINITION, "definition", target.digest)
                return definition, side
            case SchemaDigest():
                found = self._registry.schema(target.digest)
                if found is None:
                    raise _unknown(Reason.UNKNOWN_SCHEMA, "schema", target.digest)
                return found[0], Side(found[1])
            case _:
                assert_never(target)

    def _named(self, target: RegisteredTool) -> Definition:
        binding = self._registry.find(target.server, target.name)
        if binding is None:
            raise Refusal(
                Reason.UNKNOWN_TOOL,
                f"no tool {target.name[:128]!r} is registered for the server "
                f"{target.server[:128]!r}",
                {"server": target.server[:128], "tool": target.name[:128]},
            )
        definition = binding.definition
        if target.pinned and target.pinned != definition.digest:
            raise Refusal(
                Reason.DEFINITION_MISMATCH,
                f"the tool {target.name[:128]!r} has another definition than the one pinned",
                {"pinned": target.pinned[:128], "registered": definition.digest},
            )
        return definition

    async def _compiled(
        self, definition: Definition, side: Side, *, assert_formats: bool
    ) -> CompiledSchema:
        output = definition.output_schema_digest
        digest = definition.input_schema_digest if side is Side.INPUT else output
        if digest is None:
            raise _no_output_schema(definition.name)

        def source() -> SchemaSource:
            tool = read_tool(definition.json, definition.documents, self._limits)
            return replace(_side(tool, side), assert_formats=assert_formats)

        return await self._schemas.registered(digest, source, assert_formats=assert_formats)


def _judged(
    compiled: CompiledSchema, validation: Validation, definition_digest: str = "", tool: str = ""
) -> Judged:
    verdict = judge(compiled, validation.payload, validation.how)
    return Judged(verdict, definition_digest, compiled.digest, tool)


def _size(tool: ToolDefinition) -> int:
    schemas = (tool.input, tool.output)
    texts = [tool.json, *(schema.json for schema in schemas if schema is not None)]
    return sum(map(len, texts)) + sum(len(document.json) for document in tool.input.documents)


def _side(tool: ToolDefinition, side: Side) -> SchemaSource:
    if side is Side.INPUT:
        return tool.input
    if tool.output is None:
        raise _no_output_schema(tool.name)
    return tool.output


def _no_output_schema(tool: str) -> Refusal:
    return Refusal(
        Reason.NO_OUTPUT_SCHEMA,
        f"the tool {tool[:128]!r} has no output schema to judge structured content under",
        {"tool": tool[:128]},
    )


def _unknown(reason: Reason, what: str, digest: str) -> Refusal:
    return Refusal(
        reason, f"no registered {what} has the digest {digest[:80]!r}", {"digest": digest[:80]}
    )
