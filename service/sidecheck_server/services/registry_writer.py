"""Writes to the registry, with an error for callers and a report for operators if one fails."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.registry import (
    NOTHING_EXPECTED,
    Expected,
    Registry,
    RegistryInUse,
    RegistryOutcomeUnknown,
    RegistryUnusable,
)
from sidecheck_server.registry.definitions import Definition, Deleted, Registered

__all__ = ["AwaitFollowers", "RegistryWriter", "ReportRegistry"]

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
