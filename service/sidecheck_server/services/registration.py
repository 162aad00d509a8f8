"""Registration of tools: each is checked by itself, and those without errors are bound."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from sidecheck_server.access.identity import check_server
from sidecheck_server.core.compat.changes import Reading, ToolComparison
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.rules.names import NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.tool_definitions import duplicate_names
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.registry import (
    NOTHING_EXPECTED,
    BindingsChanged,
    Expected,
    Registry,
    RegistryInUse,
    RegistryOutcomeUnknown,
    RegistryUnusable,
)
from sidecheck_server.registry.definitions import (
    MAX_SERVER_LENGTH,
    Action,
    Binding,
    Definition,
    Deleted,
    Registered,
)
from sidecheck_server.services.comparison import (
    CompatibilityGate,
    CompatibilityPolicy,
    ToolComparer,
)
from sidecheck_server.services.definitions import CheckedDefinition, DefinitionChecker
from sidecheck_server.services.targets import InlineTool

__all__ = [
    "AwaitFollowers",
    "ChangePolicy",
    "Outcome",
    "Registrar",
    "Registration",
    "RegistrationOutcomes",
    "RegistryWriter",
    "ReportRegistry",
]

_Result = TypeVar("_Result", Registered, Deleted)

#: Called with the reason when the registry cannot be written, and with None when it can again.
ReportRegistry: TypeAlias = Callable[[str | None], None]

#: Called after a write, in its thread; blocks until those who follow the registry have the
#: revision, or for as long as they may take.
AwaitFollowers: TypeAlias = Callable[[int], None]


def _await_nobody(_revision: int) -> None:
    """Do nothing: nobody follows the registry."""


class RegistryWriter:
    """Changes the registry.

    A reason why it cannot be written is reported once, until a write succeeds or fails for
    another reason.
    """

    def __init__(self, registry: Registry, report: ReportRegistry) -> None:
        self._registry = registry
        self._report = report
        self.await_followers: AwaitFollowers = _await_nobody
        #: Why the last write failed, if it did.
        self._failure: str | None = None

    @property
    def is_writable(self) -> bool:
        """Whether the last write did not fail for want of a usable registry."""
        return self._failure is None

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> Registered:
        """Bind the names of *definitions*, as `Registry.register` does.

        Raises:
            BindingsChanged: names are not bound as *expected*; nothing has changed.
            RequestError: REGISTRY_UNUSABLE or QUOTA_EXCEEDED; nothing has changed, unless the
                message says that this is unknown.
        """
        return self._write(
            lambda: self._registry.register(server, definitions, keep=keep, expected=expected)
        )

    async def delete(self, server: str, names: Sequence[str] | None) -> Deleted:
        """Remove *names*, or all if it is None, from the namespace of *server*.

        Raises:
            RequestError: REGISTRY_UNUSABLE; nothing has changed, unless the message says that
                this is unknown.
        """
        # A transaction waits for the disk.
        return await asyncio.to_thread(self._write, lambda: self._registry.delete(server, names))

    def _write(self, transaction: Callable[[], _Result]) -> _Result:
        try:
            result = transaction()
        except (RegistryInUse, RegistryUnusable) as error:
            self._note(str(error))
            fault = error.fault if isinstance(error, RegistryUnusable) else "is in use"
            if isinstance(error, RegistryOutcomeUnknown):
                raise RequestError(
                    ErrorReason.REGISTRY_UNUSABLE,
                    f"the registry {fault}; it is unknown whether the change took effect; look, or "
                    "make it again, which does no harm",
                    {"outcome": "unknown"},
                ) from error
            raise RequestError(
                ErrorReason.REGISTRY_UNUSABLE,
                f"the registry {fault}; nothing has changed, and reads go on",
            ) from error
        self._note(None)
        self.await_followers(result.revision)
        return result

    def _note(self, failure: str | None) -> None:
        if failure != self._failure:
            self._failure = failure
            self._report(failure)


_ATTEMPTS = 20
"""How often a registration is tried while others change the tools that it compares with."""


class ChangePolicy(StrEnum):
    """How a definition is treated that differs from the registered one of its name."""

    ACCEPT = "accept"
    REPORT = "report"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Registration:
    """A request to register the tools of a server."""

    server: str
    tools: tuple[InlineTool, ...]
    #: Whether the server's other tools are removed.
    replace: bool = False
    change_policy: ChangePolicy = ChangePolicy.ACCEPT
    #: Whether the registry stays as it is.
    validate_only: bool = False
    #: The protocol version whose rules apply; "" stands for the default.
    protocol_version: str = ""
    compatibility: CompatibilityPolicy = CompatibilityPolicy.IGNORE
    #: The reading of schemas by which compatibility is decided.
    reading: Reading = Reading.ASSUME_CLOSED


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of registering a definition."""

    name: str
    #: None if it was rejected.
    action: Action | None
    violations: tuple[Violation, ...]
    definition: Definition | None
    #: The digest of the definition, rejected or not; "" if it is not JSON.
    digest: str
    previous_digest: str
    #: How it differs from the registered one, if that was asked for and it does.
    comparison: ToolComparison | None = None


@dataclass(frozen=True, slots=True)
class RegistrationOutcomes:
    """The outcome of a registration."""

    #: One for each tool, in order.
    outcomes: tuple[Outcome, ...]
    removed: tuple[str, ...]
    revision: int
    #: The names that would be removed if that did not break callers.
    kept: tuple[str, ...] = ()


class _Candidate(NamedTuple):
    """A definition that was checked, with the binding of its name and how it differs from that."""

    tool: CheckedDefinition
    before: Binding | None
    comparison: ToolComparison | None


class Registrar:
    """Registers tools."""

    def __init__(
        self,
        registry: Registry,
        writer: RegistryWriter,
        definitions: DefinitionChecker,
        comparer: ToolComparer,
        default_version: str,
    ) -> None:
        self._registry = registry
        self._writer = writer
        self._definitions = definitions
        self._comparer = comparer
        self._default_version = default_version

    async def register(self, request: Registration) -> RegistrationOutcomes:
        """Check the tools of *request* and bind those without errors, in one transaction.

        Raises:
            RequestError: INVALID_REQUEST if the server's name is empty or too long;
                PERMISSION_DENIED, QUOTA_EXCEEDED or REGISTRY_UNUSABLE, and nothing has changed.
        """
        # Before the work of checking the tools; the registry checks it as well.
        check_server(request.server)
        if not 1 <= len(request.server) <= MAX_SERVER_LENGTH:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"the server's name must have 1 to {MAX_SERVER_LENGTH} characters; "
                f"it has {len(request.server)}",
                {"field": "server"},
            )
        version = request.protocol_version or self._default_version
        checked = await self._definitions.check_all(request.tools, version)
        gate = CompatibilityGate(self._comparer, request.compatibility, request.reading)
        for _ in range(_ATTEMPTS):
            before = {tool.name: self._registry.find(request.server, tool.name) for tool in checked}
            candidates = [
                _Candidate(tool, before[tool.name], await gate.compare(before[tool.name], tool))
                for tool in checked
            ]
            with suppress(BindingsChanged):
                # A transaction waits for the disk.
                return await asyncio.to_thread(self._bind, request, version, candidates, gate)
        raise RequestError(
            ErrorReason.REGISTRY_UNUSABLE,
            "too many concurrent registrations of the same tools; nothing has changed, and the "
            "call may be retried",
        )

    def _bind(
        self,
        request: Registration,
        version: str,
        candidates: Sequence[_Candidate],
        gate: CompatibilityGate,
    ) -> RegistrationOutcomes:
        """Bind those of *candidates* that may be.

        Raises:
            BindingsChanged: what they were compared with has changed since.
        """
        checked = [
            _apply_change_policy(
                gate.apply(each.tool, each.comparison), each.before, request.change_policy
            )
            for each in candidates
        ]
        definitions = [tool.definition for tool in checked if tool.definition is not None]
        # A tool whose name cannot be read may be any of the registered ones.
        names_known = all(tool.name or tool.definition is not None for tool in checked)
        replaces = request.replace and names_known
        keep = frozenset(tool.name for tool in checked) if replaces else None
        kept: tuple[str, ...] = ()
        if keep is not None and gate.keeps_others:
            plan = self._registry.preview(request.server, definitions, keep=keep)
            keep, kept = None, plan.removed
        if request.validate_only:
            registered = self._registry.preview(request.server, definitions, keep=keep)
        else:
            compares = request.change_policy is not ChangePolicy.ACCEPT or gate.compares
            expected = {
                each.tool.name: None if each.before is None else each.before.definition.digest
                for each in candidates
                if compares
            }
            registered = self._writer.register(
                request.server, definitions, keep=keep, expected=expected
            )
        bound = iter(registered.bound)
        outcomes = []
        with_duplicates = _with_duplicates(checked, version)
        for candidate, tool in zip(candidates, with_duplicates, strict=True):
            binding = next(bound) if tool.definition is not None else None
            earlier = candidate.before
            previous = earlier.definition.digest if earlier else None
            outcomes.append(
                Outcome(
                    name=tool.name,
                    action=binding.action if binding else None,
                    violations=tool.violations,
                    definition=tool.definition,
                    digest=tool.digest,
                    previous_digest=(binding.previous_digest if binding else previous) or "",
                    comparison=candidate.comparison,
                )
            )
        return RegistrationOutcomes(tuple(outcomes), registered.removed, registered.revision, kept)


def _apply_change_policy(
    tool: CheckedDefinition, registered: Binding | None, policy: ChangePolicy
) -> CheckedDefinition:
    """Return *tool* with a violation if it differs from *registered*, unless that is accepted."""
    if (
        tool.definition is None
        or registered is None
        or registered.definition.digest == tool.digest
        or policy is ChangePolicy.ACCEPT
    ):
        return tool
    rejected = policy is ChangePolicy.REJECT
    violation = Violation(
        instance_location="",
        keyword_location="",
        keyword="",
        code="DEFINITION_CHANGED",
        message="the definition differs from the one that is registered under this name",
        severity=Severity.ERROR if rejected else Severity.WARNING,
    )
    definition = None if rejected else tool.definition
    return replace(tool, definition=definition, violations=(*tool.violations, violation))


def _with_duplicates(
    checked: Sequence[CheckedDefinition], version: str
) -> Sequence[CheckedDefinition]:
    """Return *checked* with a warning for repeated names; the last definition is bound."""
    repeated = duplicate_names(tool.name for tool in checked)
    message = "the request has several tools of this name; the last valid one is registered"
    violation = NO_DUPLICATES.violation(Fault(("name",), message), version)
    return [
        replace(tool, violations=(*tool.violations, violation)) if tool.name in repeated else tool
        for tool in checked
    ]
