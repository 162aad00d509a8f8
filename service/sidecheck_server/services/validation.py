"""Validation: from a target to what payloads are judged under."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import (
    EvaluationOptions,
    details_unavailable,
    try_evaluate_inline,
)
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition, read_tool
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Definition
from sidecheck_server.services.inline_tools import InlineTools
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import (
    DefinitionDigest,
    InlineTool,
    RegisteredTool,
    SchemaDigest,
    Side,
    Target,
)

__all__ = ["ResolvedDefinition", "ResolvedSchema", "ResolvedTool", "Validator", "found_tool"]

OffloadValidation = Callable[[CompiledSchema, bytes, EvaluationOptions], Awaitable[Verdict]]

_KILLED = frozenset({"validation_seconds", "worker_bytes"})
"""The bounds at which a worker is killed, or gives up."""


@dataclass(frozen=True, slots=True)
class ResolvedSchema:
    """What payloads are judged under, found and ready."""

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
    """A tool that was found, whatever schemas it has."""

    definition_digest: str
    #: Its name.
    tool: str
    #: The digest of its output schema, or "" if it has none.
    output_digest: str
    #: Whether the caller should act on verdicts.
    enforced: bool = True


@dataclass(frozen=True, slots=True)
class ResolvedDefinition:
    """The definition of a tool that was found."""

    #: The server that it is registered for, or "".
    server: str
    name: str
    digest: str
    definition: InlineTool


class Validator:
    """Finds what targets name, and judges payloads.

    Tools of the servers in *report_only* are judged, and not enforced.
    """

    def __init__(
        self,
        registry: Registry,
        schemas: CompiledSchemas,
        validate_offloaded: OffloadValidation,
        limits: Limits,
        report_only: frozenset[str] = frozenset(),
    ) -> None:
        self._registry = registry
        self._schemas = schemas
        self._judge_long = validate_offloaded
        self._limits = limits
        self._report_only = report_only
        self._inline_tools = InlineTools(limits)

    async def find(self, target: Target, side: Side, *, assert_formats: bool) -> ResolvedSchema:
        """Return what *target* names.

        Raises:
            Refusal: it is unknown or broken.
        """
        if isinstance(target, SchemaSource):
            source = replace(target, assert_formats=assert_formats)
            return ResolvedSchema(await self._schemas.inline(source))
        if isinstance(target, InlineTool):
            await self._inline_tools.read_ahead(target)
            tool = self._inline_tools.read(target)
            source = replace(_side(tool, side), assert_formats=assert_formats)
            return ResolvedSchema(await self._schemas.inline(source), tool.digest, tool.name)
        definition, side = self._find(target, side)
        compiled = await self._compiled(definition, side, assert_formats=assert_formats)
        if isinstance(target, SchemaDigest):
            return ResolvedSchema(compiled)
        return ResolvedSchema(compiled, definition.digest, definition.name, self._enforces(target))

    async def read_ahead(self, target: Target) -> None:
        """Read a large definition that was sent along, so that the next need not wait for it."""
        if isinstance(target, InlineTool):
            await self._inline_tools.read_ahead(target)

    def tool(self, target: Target) -> ResolvedTool:
        """Return the tool that *target* names.

        Raises:
            Refusal: INVALID_REQUEST if it names a bare schema; or it is unknown or broken.
        """
        if isinstance(target, InlineTool):
            tool = self._inline_tools.read(target)
            return ResolvedTool(tool.digest, tool.name, tool.output_digest or "")
        if isinstance(target, SchemaSource | SchemaDigest):
            said = "a whole call or result is judged under a tool, not under a bare schema"
            raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "target"})
        found = self._bound(target).definition
        output = found.output_schema_digest or ""
        return ResolvedTool(found.digest, found.name, output, self._enforces(target))

    def definition(self, target: Target) -> ResolvedDefinition:
        """Return the definition of the tool that *target* names.

        Raises:
            Refusal: as `tool`.
        """
        if isinstance(target, InlineTool):
            tool = self._inline_tools.read(target)
            return ResolvedDefinition("", tool.name, tool.digest, target)
        if isinstance(target, SchemaSource | SchemaDigest):
            said = "a tool is asked for, and a bare schema is none"
            raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "tool"})
        return found_tool(self._bound(target))

    async def judge(
        self,
        standard: ResolvedSchema,
        payload: bytes,
        how: EvaluationOptions,
        take_long: Callable[[], None],
    ) -> Verdict:
        """Return the verdict on *payload*, at once or from a worker.

        *take_long* is called before a worker is given something to do, and may refuse.

        Raises:
            Refusal: as `validate_offloaded`.
        """
        verdict = try_evaluate_inline(standard.compiled, payload, how)
        if verdict is None:
            take_long()
            verdict = await self.validate_offloaded(standard, payload, how)
        return verdict

    async def validate_offloaded(
        self, standard: ResolvedSchema, payload: bytes, how: EvaluationOptions
    ) -> Verdict:
        """Return the verdict on a payload that `try_evaluate_inline` left open.

        Whether it is valid is asked first, by itself: a worker that is killed while it
        explains an invalid payload takes only the explanation with it.

        Raises:
            Refusal: a limit is exceeded, or the worker that judged died.
        """
        compiled = standard.compiled
        if how.repairs is not None or not how.explains:
            return await self._judge_long(compiled, payload, how)
        brief = await self._judge_long(
            compiled, payload, replace(how, explains=False, max_violations=1)
        )
        if brief.valid:
            return brief
        try:
            return await self._judge_long(compiled, payload, how)
        except RequestError as refusal:
            if (
                refusal.reason is ErrorReason.WORKER_CRASHED
                or refusal.metadata.get("bound") in _KILLED
            ):
                return details_unavailable()
            raise

    def _enforces(self, target: Target) -> bool:
        return not (isinstance(target, RegisteredTool) and target.server in self._report_only)

    def _find(
        self, target: RegisteredTool | DefinitionDigest | SchemaDigest, side: Side
    ) -> tuple[Definition, Side]:
        if not isinstance(target, SchemaDigest):
            return self._bound(target).definition, side
        found = self._registry.schema(target.digest)
        if found is None:
            raise _unknown(ErrorReason.UNKNOWN_SCHEMA, "schema", target.digest)
        return found[0], Side(found[1])

    def _bound(self, target: RegisteredTool | DefinitionDigest) -> Binding:
        if isinstance(target, RegisteredTool):
            return self._named(target)
        binding = self._registry.bound_to(target.digest)
        if binding is None:
            raise _unknown(ErrorReason.UNKNOWN_DEFINITION, "definition", target.digest)
        return binding

    def _named(self, target: RegisteredTool) -> Binding:
        binding = self._registry.find(target.server, target.name)
        if binding is None:
            raise RequestError(
                ErrorReason.UNKNOWN_TOOL,
                f"no tool {target.name[:128]!r} is registered for the server "
                f"{target.server[:128]!r}",
                {"server": target.server[:128], "tool": target.name[:128]},
            )
        definition = binding.definition
        if target.pinned and target.pinned != definition.digest:
            raise RequestError(
                ErrorReason.DEFINITION_MISMATCH,
                f"the tool {target.name[:128]!r} has another definition than the one pinned",
                {"pinned": target.pinned[:128], "registered": definition.digest},
            )
        return binding

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


def found_tool(binding: Binding) -> ResolvedDefinition:
    """Return the definition of a registered tool."""
    found = binding.definition
    definition = InlineTool(found.json, found.documents)
    return ResolvedDefinition(binding.server, found.name, found.digest, definition)


def _side(tool: ToolDefinition, side: Side) -> SchemaSource:
    if side is Side.INPUT:
        return tool.input
    if tool.output is None:
        raise _no_output_schema(tool.name)
    return tool.output


def _no_output_schema(tool: str) -> RequestError:
    return RequestError(
        ErrorReason.NO_OUTPUT_SCHEMA,
        f"the tool {tool[:128]!r} has no output schema to judge structured content under",
        {"tool": tool[:128]},
    )


def _unknown(reason: ErrorReason, what: str, digest: str) -> RequestError:
    return RequestError(
        reason, f"no registered {what} has the digest {digest[:80]!r}", {"digest": digest[:80]}
    )
