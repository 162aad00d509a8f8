"""Registration of an MCP server's tools at the first call that needs them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck._async.client import Client
from sidecheck._async.fakes import FakeValidator
from sidecheck.errors import SidecheckError
from sidecheck.rejections import ToolsRejected
from sidecheck.values.registry import Action, Registration
from sidecheck.values.verdict import Severity
from sidecheck.verdicts import describe_violation

__all__ = ["Definition", "ListTools", "RegisteredTools", "RegisteringValidator", "ToolRegistrar"]

#: Definition of a tool, as an entry of a ``tools/list`` result.
Definition: TypeAlias = dict[str, Any]

#: Returns the tools of the server, from all pages.
ListTools: TypeAlias = Callable[[], Awaitable[list[Definition]]]


#: What the wrappers call: the client, or the fake of `sidecheck.testing`.
RegisteringValidator: TypeAlias = Client | FakeValidator


@dataclass(frozen=True, eq=False, slots=True)
class RegisteredTools:
    """A registration of a server's tools, compared by identity."""

    #: Number of earlier changes of the definitions.
    changes: int
    #: The first violation of each rejected tool, in one line, by name.
    rejected: Mapping[str, str]


# Decision 0059: tools are registered when a call first needs them, and shared by its waiters.
class ToolRegistrar:
    """Registers the tools of one MCP server.

    Tools are added and never removed: several processes may serve the same name, and
    ``tools/list`` may differ between users. Each protocol version has a separate registration,
    because a definition may be rejected under one version only.
    """

    def __init__(
        self,
        client: RegisteringValidator,
        server: str,
        timeout: float,
        on_error: Callable[[SidecheckError], None],
    ) -> None:
        self._client = client
        self._server = server
        self._timeout = timeout
        self._on_error = on_error
        self._definitions: dict[str, Definition] = {}
        self._changes = 0
        self._registered: dict[str, RegisteredTools] = {}
        self._lock = asyncio.Lock()
        self._attempts = 0
        self._failure: SidecheckError | None = None

    def observe(self, definitions: Iterable[Definition]) -> None:
        """Record tools that the server lists; changes lead to a registration."""
        tools_by_name = {str(definition.get("name")): definition for definition in definitions}
        if any(self._definitions.get(name) != tool for name, tool in tools_by_name.items()):
            self._definitions.update(tools_by_name)
            self._changes += 1

    async def register(self, version: str, list_tools: ListTools) -> RegisteredTools:
        """Return the registration for a protocol version, and register first if needed.

        Raises:
            SidecheckError: The tools could not be registered.
        """
        attempts = self._attempts
        registered = self._current(version)
        if registered is not None:
            return registered
        async with self._lock:
            registered = self._current(version)
            if registered is None:
                self._share_failure(attempts)
                registered = await self._register(version, await list_tools())
        return registered

    async def register_again(
        self, version: str, list_tools: ListTools, name: str, previous: RegisteredTools
    ) -> RegisteredTools | None:
        """Return a later registration than *previous*, or None without tool *name*.

        Raises:
            SidecheckError: The tools could not be registered.
        """
        attempts = self._attempts
        async with self._lock:
            definitions = await list_tools()
            if all(definition.get("name") != name for definition in definitions):
                return None
            registered = self._registered.get(version)
            if registered is None or registered is previous:
                self._share_failure(attempts)
                registered = await self._register(version, definitions)
        return registered

    def _current(self, version: str) -> RegisteredTools | None:
        registered = self._registered.get(version)
        return registered if registered and registered.changes == self._changes else None

    def _share_failure(self, attempts: int) -> None:
        """Raise the error of an attempt that failed after *attempts* was read.

        Calls that waited for an attempt share its outcome, instead of each waiting for another
        deadline.
        """
        if self._failure is not None and self._attempts != attempts:
            raise copy(self._failure)

    async def _register(self, version: str, definitions: list[Definition]) -> RegisteredTools:
        self.observe(definitions)
        changes = self._changes
        try:
            registration = await self._client.register(
                self._server,
                definitions,
                protocol_version=version,
                on_rejected="return",
                timeout=self._timeout,
            )
        except SidecheckError as error:
            self._failure = error
            self._attempts += 1
            raise
        self._failure = None
        self._attempts += 1
        registered = RegisteredTools(changes, rejected_tools(registration))
        self._registered[version] = registered
        if registered.rejected:
            self._on_error(ToolsRejected(registration))
        return registered


def rejected_tools(registration: Registration) -> dict[str, str]:
    """Return the first error of each rejected tool, by name."""
    return {
        outcome.name: next(
            (describe_violation(v) for v in outcome.violations if v.severity is Severity.ERROR),
            "the definition is invalid",
        )
        for outcome in registration.outcomes
        if outcome.action is Action.REJECTED
    }
