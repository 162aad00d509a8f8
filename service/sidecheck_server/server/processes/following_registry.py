"""The registry of a serving process: a copy of the first process's, which makes all writes."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from sidecheck_server.registry import NOTHING_EXPECTED, Expected, RegistryOutcomeUnknown
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Change, Definition, Deleted, Registered
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.reads import CatalogueReads
from sidecheck_server.server.processes.link import Link, LinkClosed

__all__ = ["FollowingRegistry"]


class FollowingRegistry(CatalogueReads):
    """A `Registry` that follows another by its changes.

    A write returns after its change has been applied here, as the other sends that first.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        history: Iterable[Change],
        quotas: RegistryQuotas,
        link: Link,
    ) -> None:
        super().__init__(catalogue, quotas, history)
        self._link = link
        #: The parts of a reload so far, which reads see all at once.
        self._parts: list[Change] = []
        self._loop = asyncio.get_running_loop()

    @property
    def identity(self) -> str:
        """That of the registry that it follows is known to the first process alone."""
        return "followed"

    def apply(self, change: Change) -> None:
        """Apply *change*, which the other registry made; in the event loop."""
        self._parts.append(change)
        if change.is_continued:
            return
        parts, self._parts = self._parts, []
        after = self._catalogue
        for part in parts:
            after = after.with_change(part)
        self._show(after, *parts)

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> Registered:
        """Bind the names of *definitions*; in a thread other than that of the event loop."""
        registered: Registered = self._write("register", server, definitions, keep, dict(expected))
        return registered

    def delete(self, server: str, names: Sequence[str] | None) -> Deleted:
        """Remove *names*, or all; in a thread other than that of the event loop."""
        deleted: Deleted = self._write("delete", server, names)
        return deleted

    def close(self) -> None:
        """Do nothing: the first process closes the registry."""

    def _write(self, name: str, *arguments: object) -> Any:
        call = asyncio.run_coroutine_threadsafe(self._call(name, *arguments), self._loop)
        try:
            return call.result()
        except LinkClosed:
            raise RegistryOutcomeUnknown(
                "the registry", "cannot be reached: the process that writes it has ended"
            ) from None

    async def _call(self, name: str, *arguments: object) -> Any:
        return await self._link.call(name, *arguments)
