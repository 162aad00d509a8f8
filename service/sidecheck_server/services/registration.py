"""Registration: each tool of a request is checked by itself, and the good ones are bound."""

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.rules.names import NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.tools.problems import repeated_names
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Action, Binding, Definition
from sidecheck_server.services.definitions import CheckedDefinition, DefinitionChecker
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool

__all__ = ["ChangePolicy", "Outcome", "Registrar", "Registration", "RegistrationOutcomes"]

_SERVER_LENGTH = 256


class ChangePolicy(StrEnum):
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
    change_policy: ChangePolicy = ChangePolicy.ACCEPT
    #: Whether to check and answer only.
    validate_only: bool = False
    #: The version of the protocol whose rules hold; "" stands for the default.
    protocol_version: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one definition."""

    name: str
    #: None if it was refused.
    action: Action | None
    violations: tuple[Violation, ...]
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


class Registrar:
    """Registers tools."""

    def __init__(
        self, registry: Registry, schemas: CompiledSchemas, checker: Checker, limits: Limits
    ) -> None:
        self._registry = registry
        self._binding = Lock()
        self._definitions = DefinitionChecker(schemas, checker, limits)

    async def register(self, request: Registration) -> RegistrationOutcomes:
        """Check the tools of *request* and bind those without an error, in one transaction.

        Raises:
            Refusal: INVALID_REQUEST if the server's name is empty or too long.
        """
        if not 1 <= len(request.server) <= _SERVER_LENGTH:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"the server's name must have 1 to {_SERVER_LENGTH} characters; "
                f"it has {len(request.server)}",
                {"field": "server"},
            )
        version = request.protocol_version or DEFAULT_VERSION
        checked = await self._definitions.check_all(request.tools, version)
        # A transaction waits for the disk.
        return await asyncio.to_thread(self._bind, request, checked)

    def _bind(
        self, request: Registration, checked: list[CheckedDefinition]
    ) -> RegistrationOutcomes:
        # What is compared must still be registered when it is replaced.
        with self._binding:
            before = {one.name: self._registry.find(request.server, one.name) for one in checked}
            checked = [_compared(one, before[one.name], request.change_policy) for one in checked]
            good = [one.definition for one in checked if one.definition is not None]
            # Whose name cannot be read may be any of those that are registered.
            named = all(one.name for one in checked)
            keep = frozenset(one.name for one in checked) if request.replace and named else None
            bind = self._registry.preview if request.validate_only else self._registry.register
            bound = bind(request.server, good, keep=keep)
        actions = iter(bound.bound)
        outcomes = []
        for one in _with_duplicates_told(checked, request.protocol_version or DEFAULT_VERSION):
            action = next(actions) if one.definition is not None else None
            registered = before[one.name]
            previous = registered.definition.digest if registered else None
            outcomes.append(
                Outcome(
                    name=one.name,
                    action=action.action if action else None,
                    violations=one.violations,
                    definition=one.definition,
                    digest=one.digest,
                    previous_digest=(action.previous_digest if action else previous) or "",
                )
            )
        return RegistrationOutcomes(tuple(outcomes), bound.removed, bound.revision)


def _compared(
    one: CheckedDefinition, registered: Binding | None, change_policy: ChangePolicy
) -> CheckedDefinition:
    """Say that a definition changed, if the request asks for that."""
    if (
        one.definition is None
        or registered is None
        or registered.definition.digest == one.digest
        or change_policy is ChangePolicy.ACCEPT
    ):
        return one
    refused = change_policy is ChangePolicy.REFUSE
    problem = Violation(
        instance_location="",
        keyword_location="",
        keyword="",
        code="DEFINITION_CHANGED",
        message="the definition differs from the one that is registered under this name",
        severity=Severity.ERROR if refused else Severity.WARNING,
    )
    definition = None if refused else one.definition
    return replace(one, definition=definition, violations=(*one.violations, problem))


def _with_duplicates_told(
    checked: list[CheckedDefinition], version: str
) -> list[CheckedDefinition]:
    """Warn of every name that stands more than once; the last good definition counts."""
    repeated = repeated_names(one.name for one in checked)
    said = "the request has several tools of this name; the last good one counts"
    problem = NO_DUPLICATES.violation(Fault(("name",), said), version)
    return [
        replace(one, violations=(*one.violations, problem)) if one.name in repeated else one
        for one in checked
    ]
