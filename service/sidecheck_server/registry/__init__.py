"""The registry: tool definitions by digest, bound to names in servers' namespaces.

`Registry` is the interface; `sidecheck_server.registry.sqlite` implements it with a SQLite
file or in memory, and `sidecheck_server.registry.postgres` with a PostgreSQL database that
several servers share. `sidecheck_server.registry.opening` opens any of them.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Protocol, Self, TypeAlias
from uuid import UUID

from sidecheck_server.registry.definitions import (
    Binding,
    Change,
    Definition,
    RegistrationResult,
    RemovalResult,
)
from sidecheck_server.registry.quotas import ExceededQuota

__all__ = [
    "NOTHING_EXPECTED",
    "BindingsChanged",
    "Expected",
    "Registry",
    "RegistryInUse",
    "RegistryOutcomeUnknown",
    "RegistryUnusable",
]

#: The digest of the definition to which each name must be bound; None for names that must not
#: be bound.
Expected: TypeAlias = Mapping[str, str | None]

NOTHING_EXPECTED: Expected = MappingProxyType({})


class BindingsChanged(Exception):
    """A name is not bound to the expected definition; reads return the current one."""


class RegistryInUse(Exception):
    """Another server has opened the registry's file; the message names the file."""


class RegistryUnusable(Exception):
    """The registry is unusable; the message has the cause and the remedy."""

    def __init__(self, location: str, fault: str, detail: str = "") -> None:
        super().__init__(f"{location} {fault}" + (f" ({detail})" if detail else ""))
        self._location = location
        #: The message without location and detail, which only the operator may see.
        self.fault = fault
        self.detail = detail

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str]]:
        """Return the class and the arguments from which pickle creates the error again."""
        return type(self), (self._location, self.fault, self.detail)


class RegistryOutcomeUnknown(RegistryUnusable):
    """The registry was lost during a commit, so that the change may have taken effect."""


class Registry(Protocol):
    """Stores tool definitions and the names bound to them.

    A definition is immutable and identified by its digest. If a name is bound to a digest
    already, registering another text of that digest leaves the binding unchanged: the text
    and the documents of the first registration stay, and reads return its bytes. The same
    digest under another name or server is a separate registration with its own bytes. A
    definition is kept as long as a name is bound to it.

    Every transaction that changes a binding increments the revision, and no other
    does. All methods are thread-safe. Reads return the state in memory as of the last
    completed transaction, and never wait for a running one. Writes return when the
    change is durable and reads see it. If it cannot be made durable, they raise
    `RegistryUnusable` and change nothing, except for `RegistryOutcomeUnknown`. Reads still work
    then, and later writes may succeed, unless the file was replaced.

    The time of reads and writes is proportional to the bindings that they return or change,
    and to the logarithm of the number of all bindings.
    """

    @property
    def revision(self) -> int:
        """The number of transactions that changed a binding.

        A binding that is read after the revision is at least as recent.
        """

    @property
    def change_id(self) -> UUID:
        """Identity of the last change; random if a file has not changed since its opening."""

    @property
    def age_seconds(self) -> float:
        """Seconds since reads were last known to be current; 0 without other writers."""

    @property
    def identity(self) -> str:
        """Format of the stored registry, and identity of a database's registry."""

    @property
    def reloads(self) -> int:
        """Number of full reloads of the registry since its opening (`Change.is_reload`)."""

    def find(self, server: str, name: str) -> Binding | None:
        """Return the binding of *name* in the namespace of *server*, if there is one."""

    def bound_to(self, digest: str, servers: frozenset[str] | None = None) -> Binding | None:
        """Return the binding of the definition of *digest*, if a name is bound to it.

        With *servers*, only their names count. If several texts of that digest are registered,
        the result is the binding that is oldest by revision, then by server and name.
        """

    def schema(
        self, digest: str, servers: frozenset[str] | None = None
    ) -> tuple[Definition, Literal["input", "output"]] | None:
        """Return a bound definition with a schema of *digest*, and its side.

        With *servers*, only their definitions count. If several definitions have the schema,
        the result is that of the binding that is oldest by revision, then by server and name.
        If both of its schemas have the digest, the side is the input.
        """

    def page(
        self, server: str | None, after: tuple[str, str] | None, limit: int, max_bytes: int
    ) -> tuple[tuple[Binding, ...], bool]:
        """Return bindings in the order of server and name, and whether more follow.

        With *server*, only its bindings are returned. The page starts after the server and name
        *after*, which need not be bound. It has at most *limit* bindings and *max_bytes* of
        JSON, but at least one binding if any remain. Names are in the order of their code
        points.
        """

    def preview(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> RegistrationResult:
        """Return the result that `register` would have, with the current revision.

        Raises:
            RequestError: QUOTA_EXCEEDED.
        """

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> RegistrationResult:
        """Bind the names of *definitions* in the namespace of *server* to them.

        With *keep*, the definitions are all tools of the server: its other names are removed,
        except those in *keep*. Without it, other names stay. All of it is one transaction. If
        a name occurs twice, its definitions take effect in order, so that the last one stays.

        Raises:
            BindingsChanged: names are not bound as *expected*; nothing has changed.
            RequestError: QUOTA_EXCEEDED: an amount would grow beyond its quota; nothing has
                changed.
            RegistryUnusable: the change cannot be made durable; nothing has changed.
            ValueError: a text has a lone surrogate, which UTF-8 cannot encode; nothing
                has changed.
        """

    def delete(self, server: str, names: Sequence[str] | None) -> RemovalResult:
        """Remove *names*, or all names if it is None, from the namespace of *server*.

        Raises:
            RegistryUnusable: the change cannot be made durable; nothing has changed.
        """

    def subscribe(self, observer: Callable[[Change], None]) -> None:
        """Call *observer* with each change from now on, once reads see it.

        The calls come in the order of revisions, before the write returns, in any thread. The
        observer must not block or raise. An observer that applies all changes in order, reloads
        (`Change.is_reload`) included, has the content of the registry.
        """

    def take_history(self) -> tuple[Change, ...]:
        """Return and discard the history that a database had, in order and without gaps.

        The last change led to the current revision. The result is empty for a file, and for
        every call after the first.
        """

    def count(self) -> int:
        """Return the number of bound names in all namespaces together."""

    def exceeded_quotas(self) -> tuple[ExceededQuota, ...]:
        """Return the exceeded quotas, which a stored registry may have when opened.

        Takes time proportional to the number of servers.
        """

    def close(self) -> None:
        """Close file or connections. Reads still work, writes raise `RegistryUnusable`."""
