"""Registration of tools: checks each definition, and binds those without errors."""

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
    RegistrationResult,
    RemovalResult,
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

_Result = TypeVar("_Result", RegistrationResult, RemovalResult)

#: Called with the reason when the registry cannot be written, and with None when it can again.
ReportRegistry: TypeAlias = Callable[[str | None], None]

#: Called after a write, in its thread. Blocks until the followers of the registry have the
#: revision, for a limited time.
AwaitFollowers: TypeAlias = Callable[[int], None]


def _skip_followers(_revision: int) -> None:
    """Return at once, for a registry without followers."""


class RegistryWriter:
    """Changes the registry.

    A failure to write is reported once, until a write succeeds or fails for another reason.
    """

    def __init__(self, registry: Registry, report: ReportRegistry) -> None:
        self._registry = registry
        self._report = report
        self.await_followers: AwaitFollowers = _skip_followers
        #: The reason why the last write failed, or None.
        self._failure: str | None = None

    @property
    def is_writable(self) -> bool:
        """Whether the last write found the registry usable."""
        return self._failure is None

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> RegistrationResult:
        """Bind the names of *definitions*, as `Registry.register` does.

        Raises:
            BindingsChanged: names are not bound as *expected*; nothing has changed.
            RequestError: REGISTRY_UNUSABLE or QUOTA_EXCEEDED; nothing has changed, unless the
                metadata say that the outcome is unknown.
        """
        return self._write(
            lambda: self._registry.register(server, definitions, keep=keep, expected=expected)
        )

    async def delete(self, server: str, names: Sequence[str] | None) -> RemovalResult:
        """Remove *names*, or all if it is None, from the namespace of *server*.

        Raises:
            RequestError: REGISTRY_UNUSABLE; nothing has changed, unless the metadata say that
                the outcome is unknown.
        """
        # In a thread, since a transaction waits for the disk.
        return await asyncio.to_thread(self._write, lambda: self._registry.delete(server, names))

    def _write(self, transaction: Callable[[], _Result]) -> _Result:
        try:
            result = transaction()
        except (RegistryInUse, RegistryUnusable) as error:
            self._note_failure(str(error))
            fault = error.fault if isinstance(error, RegistryUnusable) else "is in use"
            if isinstance(error, RegistryOutcomeUnknown):
                raise RequestError(
                    ErrorReason.REGISTRY_UNUSABLE,
                    f"the registry {fault}; it is unknown whether the change took effect; read the "
                    "registry, or repeat the change, which is safe",
                    {"outcome": "unknown"},
                ) from error
            raise RequestError(
                ErrorReason.REGISTRY_UNUSABLE,
                f"the registry {fault}; nothing has changed, and reads go on",
            ) from error
        self._note_failure(None)
        self.await_followers(result.revision)
        return result

    def _note_failure(self, failure: str | None) -> None:
        if failure != self._failure:
            self._failure = failure
            self._report(failure)


_ATTEMPTS = 20
"""Maximum attempts of a registration while concurrent ones change the tools compared."""


class ChangePolicy(StrEnum):
    """Treatment of a definition that differs from the registered one of the same name."""

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
    #: Whether the registry stays unchanged.
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
    #: The comparison with the registered definition, if the request wants one and they differ.
    comparison: ToolComparison | None = None


@dataclass(frozen=True, slots=True)
class RegistrationOutcomes:
    """The outcome of a registration."""

    #: In the order of the tools.
    outcomes: tuple[Outcome, ...]
    removed: tuple[str, ...]
    revision: int
    #: Names that stay registered, since removing them breaks callers.
    kept: tuple[str, ...] = ()


class _Candidate(NamedTuple):
    """A checked definition, the current binding of its name, and their comparison."""

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
        # Checked here to save the work on the tools; the registry checks it as well.
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
                # In a thread, since a transaction waits for the disk.
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
        """Bind the *candidates* that no policy rejects.

        Raises:
            BindingsChanged: a binding changed after the comparison with it.
        """
        checked = [
            _apply_change_policy(
                gate.apply(candidate.tool, candidate.comparison),
                candidate.before,
                request.change_policy,
            )
            for candidate in candidates
        ]
        definitions = [tool.definition for tool in checked if tool.definition is not None]
        # A tool with an unreadable name may be any registered tool, so none may be removed.
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
                candidate.tool.name: None
                if candidate.before is None
                else candidate.before.definition.digest
                for candidate in candidates
                if compares
            }
            registered = self._writer.register(
                request.server, definitions, keep=keep, expected=expected
            )
        bound = iter(registered.bound)
        outcomes = []
        tools = _warn_of_duplicates(checked, version)
        for candidate, tool in zip(candidates, tools, strict=True):
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
    """Return *tool* with a violation if *policy* objects to its change."""
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


def _warn_of_duplicates(
    checked: Sequence[CheckedDefinition], version: str
) -> Sequence[CheckedDefinition]:
    """Return *checked* with warnings for repeated names; the last is bound."""
    repeated = duplicate_names(tool.name for tool in checked)
    message = "the request has several tools of this name; the last valid one is registered"
    violation = NO_DUPLICATES.violation(Fault(("name",), message), version)
    return [
        replace(tool, violations=(*tool.violations, violation)) if tool.name in repeated else tool
        for tool in checked
    ]
