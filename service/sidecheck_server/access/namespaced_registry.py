"""View of the registry, limited to the namespaces of the current caller."""

from collections.abc import Callable, Sequence
from typing import Literal
from uuid import UUID

from sidecheck_server.access.identity import allowed_servers, check_server
from sidecheck_server.registry import NOTHING_EXPECTED, Expected, Registry
from sidecheck_server.registry.definitions import (
    Binding,
    Change,
    Definition,
    RegistrationResult,
    RemovalResult,
)
from sidecheck_server.registry.quotas import ExceededQuota

__all__ = ["NamespacedRegistry"]


class NamespacedRegistry:
    """A `Registry` that limits callers to the servers of their tokens.

    A method with a server parameter fails with PERMISSION_DENIED if the caller may not use
    that server. Digests are looked up only among the definitions that the caller may use.
    """

    # Decision 0065: services read registered tools only through a registry, so one check here
    # covers every field of a request, and every item of a batch or stream, that names a server.

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @property
    def age_seconds(self) -> float:
        """Staleness of reads, in seconds."""
        return self._registry.age_seconds

    @property
    def identity(self) -> str:
        """The storage format and the identity of the registry."""
        return self._registry.identity

    @property
    def reloads(self) -> int:
        """Number of times that the whole registry was read after it was opened."""
        return self._registry.reloads

    @property
    def change_id(self) -> UUID:
        """The identity of the change that led to the revision."""
        return self._registry.change_id

    @property
    def revision(self) -> int:
        """The number of transactions that changed a binding."""
        return self._registry.revision

    def find(self, server: str, name: str) -> Binding | None:
        """Return the binding of *name* in the namespace of *server*, if there is one."""
        check_server(server)
        return self._registry.find(server, name)

    def bound_to(self, digest: str, servers: frozenset[str] | None = None) -> Binding | None:
        """Return the binding of the definition of *digest*, if a name is bound to it."""
        return self._registry.bound_to(digest, _allowed(servers))

    def schema(
        self, digest: str, servers: frozenset[str] | None = None
    ) -> tuple[Definition, Literal["input", "output"]] | None:
        """Return a bound definition with a schema of *digest*, and the schema's side."""
        return self._registry.schema(digest, _allowed(servers))

    def page(
        self, server: str | None, after: tuple[str, str] | None, limit: int, max_bytes: int
    ) -> tuple[tuple[Binding, ...], bool]:
        """Return bindings in the order of server and name, and whether more follow."""
        check_server(server)
        return self._registry.page(server, after, limit, max_bytes)

    def preview(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> RegistrationResult:
        """Return the result that `register` would have, without changing anything."""
        check_server(server)
        return self._registry.preview(server, definitions, keep=keep)

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> RegistrationResult:
        """Bind the names of *definitions* in the namespace of *server* to them."""
        check_server(server)
        return self._registry.register(server, definitions, keep=keep, expected=expected)

    def delete(self, server: str, names: Sequence[str] | None) -> RemovalResult:
        """Remove *names*, or all names if it is None, from the namespace of *server*."""
        check_server(server)
        return self._registry.delete(server, names)

    def subscribe(self, observer: Callable[[Change], None]) -> None:
        """Call *observer* with each further change, for all servers."""
        self._registry.subscribe(observer)

    def take_history(self) -> tuple[Change, ...]:
        """Return the recorded changes before the registry was opened, for all servers."""
        return self._registry.take_history()

    def count(self) -> int:
        """Return the number of bound names in all namespaces."""
        return self._registry.count()

    def exceeded_quotas(self) -> tuple[ExceededQuota, ...]:
        """Return the exceeded quotas."""
        return self._registry.exceeded_quotas()

    def close(self) -> None:
        """Close the registry."""
        self._registry.close()


def _allowed(servers: frozenset[str] | None) -> frozenset[str] | None:
    """Return the *servers* that the current caller may use; None stands for all."""
    allowed = allowed_servers()
    if servers is None or allowed is None:
        return allowed if servers is None else servers
    return servers & allowed
