"""Registration: each tool of a request is checked by itself, and the good ones are bound."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock

from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.problems import (
    duplicate_name,
    refusal_as_problems,
    repeated_names,
)
from sidecheck_server.core.mcp.tools import ToolDefinition, read_tool
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Severity, Violation
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Action, Binding, Definition
from sidecheck_server.state.schemas import CompiledSchemas
from sidecheck_server.state.targets import InlineTool

__all__ = ["OnChange", "Outcome", "Registrar", "Registration", "RegistrationOutcomes"]

_SERVER_LENGTH = 256
_AT_ONCE = 64
"""How many tools of a request are checked at the same time."""


class OnChange(StrEnum):
    """What becomes of a tool whose definition differs from the registered one."""

    ACCEPT = "accept"
    REPORT = "report"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Registration:
    """The tools that one server offers."""

    server: str
    tools: tuple[InlineTool, ...]
    #: Whether the server's other tools are removed.
    replace: bool = False
    on_change: OnChange = OnChange.ACCEPT
    #: Whether to check and answer only.
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one definition."""

    name: str
    #: None if it was refused.
    action: Action | None
    problems: tuple[Violation, ...]
    definition: Definition | None
    #: The digest of a definition that was refused, if it is JSON.
    digest: str
    previous_digest: str


@dataclass(frozen=True, slots=True)
class RegistrationOutcomes:
    """What happened to a request."""

    outcomes: tuple[Outcome, ...]
    removed: tuple[str, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class _Checked:
    name: str
    digest: str
    definition: Definition | None
    problems: tuple[Violation, ...]


class Registrar:
    """Registers tools."""

    def __init__(self, registry: Registry, schemas: CompiledSchemas, limits: Limits) -> None:
        self._registry = registry
        self._schemas = schemas
        self._limits = limits
        self._binding = Lock()

    async def register(self, request: Registration) -> RegistrationOutcomes:
        """Check the tools of *request* and bind those without an error, in one transaction.

        Raises:
            Refusal: INVALID_REQUEST if the server's name is empty or too long.
        """
        if not 1 <= len(request.server) <= _SERVER_LENGTH:
            raise Refusal(
                Reason.INVALID_REQUEST,
                f"the server's name must have 1 to {_SERVER_LENGTH} characters; "
                f"it has {len(request.server)}",
                {"field": "server"},
            )
        checked = await self._check_all(request.tools)
        # A transaction waits for the disk.
        return await asyncio.to_thread(self._bind, request, checked)

    def _bind(self, request: Registration, checked: list[_Checked]) -> RegistrationOutcomes:
        # What is compared must still be registered when it is replaced.
        with self._binding:
            before = {one.name: self._registry.find(request.server, one.name) for one in checked}
            checked = [_compared(one, before[one.name], request.on_change) for one in checked]
            good = [one.definition for one in checked if one.definition is not None]
            # Whose name cannot be read may be any of those that are registered.
            named = all(one.name for one in checked)
            keep = frozenset(one.name for one in checked) if request.replace and named else None
            bind = self._registry.preview if request.validate_only else self._registry.register
            bound = bind(request.server, good, keep=keep)
        actions = iter(bound.bound)
        outcomes = []
        for one in _with_duplicates_told(checked):
            action = next(actions) if one.definition is not None else None
            registered = before[one.name]
            previous = registered.definition.digest if registered else None
            outcomes.append(
                Outcome(
                    name=one.name,
                    action=action.action if action else None,
                    problems=one.problems,
                    definition=one.definition,
                    digest=one.digest,
                    previous_digest=(action.previous_digest if action else previous) or "",
                )
            )
        return RegistrationOutcomes(tuple(outcomes), bound.removed, bound.revision)

    async def _check_all(self, tools: Sequence[InlineTool]) -> list[_Checked]:
        checked: list[_Checked] = []
        for start in range(0, len(tools), _AT_ONCE):
            read = []
            for tool in tools[start : start + _AT_ONCE]:
                read.append(self._read(tool))
                # Reading holds the loop; other calls have their turn in between.
                await asyncio.sleep(0)
            checked += await asyncio.gather(*map(self._check, read))
        return checked

    def _read(self, tool: InlineTool) -> ToolDefinition | _Checked:
        try:
            return read_tool(tool.json, tool.documents, self._limits)
        except Refusal as refusal:
            name, digest = "", ""
            if refusal.reason is Reason.INVALID_TOOL:
                name, digest = _name_and_digest(tool, self._limits)
            return _Checked(name, digest, None, refusal_as_problems(refusal, ""))

    async def _check(self, read: ToolDefinition | _Checked) -> _Checked:
        if isinstance(read, _Checked):
            return read
        problems: list[Violation] = []
        for key, source, digest in (
            ("inputSchema", read.input, read.input_digest),
            ("outputSchema", read.output, read.output_digest),
        ):
            if source is not None and digest is not None:
                try:
                    await self._schemas.registered(digest, source)
                except Refusal as refusal:
                    problems += refusal_as_problems(refusal, f"/{key}")
        definition = None if problems else _definition(read)
        return _Checked(read.name, read.digest, definition, tuple(problems))


def _compared(one: _Checked, registered: Binding | None, on_change: OnChange) -> _Checked:
    """Say that a definition changed, if the request asks for that."""
    if (
        one.definition is None
        or registered is None
        or registered.definition.digest == one.digest
        or on_change is OnChange.ACCEPT
    ):
        return one
    refused = on_change is OnChange.REFUSE
    problem = Violation(
        instance_pointer="",
        schema_pointer="",
        keyword="",
        code="DEFINITION_CHANGED",
        message="the definition differs from the one that is registered under this name",
        severity=Severity.ERROR if refused else Severity.WARNING,
    )
    definition = None if refused else one.definition
    return replace(one, definition=definition, problems=(*one.problems, problem))


def _with_duplicates_told(checked: list[_Checked]) -> list[_Checked]:
    """Warn of every name that stands more than once; the last good definition counts."""
    repeated = repeated_names(one.name for one in checked)
    problem = duplicate_name("the request has several tools of this name; the last good one counts")
    return [
        replace(one, problems=(*one.problems, problem)) if one.name in repeated else one
        for one in checked
    ]


def _name_and_digest(tool: InlineTool, limits: Limits) -> tuple[str, str]:
    """Return the name and the digest of a faulty definition, where it has them."""
    try:
        value = decode(tool.json, max_depth=2 * limits.schema_depth)
    except (MalformedError, Refusal):
        return "", ""
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else "", digest_of(value, tool.documents)


def _definition(tool: ToolDefinition) -> Definition:
    return Definition(
        digest=tool.digest,
        name=tool.name,
        json=tool.json,
        documents=tool.input.documents,
        input_schema_digest=tool.input_digest,
        output_schema_digest=tool.output_digest,
    )
