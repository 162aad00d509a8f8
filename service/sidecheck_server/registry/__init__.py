"""The registry: tool definitions by digest, bound to names in servers' namespaces.

`Registry` is the interface; `sidecheck_server.registry.sqlite` implements it with a SQLite
file or in memory, and `sidecheck_server.registry.postgres` with a PostgreSQL database that
several servers share. `sidecheck_server.registry.opening` opens any of them.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Protocol, Self, TypeAlias
from uuid import UUID

from sidecheck_server.registry.definitions import Binding, Change, Definition, Deleted, Registered
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

#: The digest of the definition that each name must be bound to, None for names that must not
#: be bound.
Expected: TypeAlias = Mapping[str, str | None]

NOTHING_EXPECTED: Expected = MappingProxyType({})


class BindingsChanged(Exception):
    """A name is bound to another definition than was expected. Reads tell to which."""


class RegistryInUse(Exception):
    """Another server has opened the registry's file; the message names the file."""


class RegistryUnusable(Exception):
    """The registry cannot be opened or written; the message says why and what would help."""

    def __init__(self, location: str, fault: str, detail: str = "") -> None:
        super().__init__(f"{location} {fault}" + (f" ({detail})" if detail else ""))
        self._location = location
        #: The message without the location of the registry and without the detail, which are
        #: the operator's business.
        self.fault = fault
        self.detail = detail

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str]]:
        """Return what a pickle makes it from."""
        return type(self), (self._location, self.fault, self.detail)


class RegistryOutcomeUnknown(RegistryUnusable):
    """The registry was lost while it made a change durable, which it may have done."""


class Registry(Protocol):
    """Stores tool definitions and the names bound to them.

    A definition is immutable and known by its digest. Registering another text of
    the digest that a name is bound to already leaves the binding unchanged: the text
    and the documents of the first registration stay, and its bytes are
    returned. The same digest under another name or server is a registration of its
    own, and keeps its own bytes. A definition is kept as long as a name is bound
    to it.

    Every transaction that changes a binding increments the revision, and no other
    does. All methods are thread-safe. Reads return the state in memory as of the last
    completed transaction, and never wait for a running one. Writes return when the
    change is durable and reads see it; if it cannot be made durable, they raise
    `RegistryUnusable` and change nothing, but for `RegistryOutcomeUnknown`. Reads go on then,
    and later writes may succeed, unless the file is not the one that was opened.

    The time of reads and writes grows with what they return or change, and with the
    logarithm of what is registered.
    """

    @property
    def revision(self) -> int:
        """The number of transactions that changed a binding.

        A binding that is read after the revision is at least as recent.
        """

    @property
    def change_id(self) -> UUID:
        """The identity of the change that led to the revision; of a file, of its opening."""

    @property
    def age_seconds(self) -> float:
        """The time since what is read was known to be current; 0 if nobody else writes it."""

    @property
    def identity(self) -> str:
        """The format of what is stored, and of a database the identity of its registry."""

    @property
    def reloads(self) -> int:
        """How often the registry was read as a whole after the opening (`Change.is_reload`)."""

    def find(self, server: str, name: str) -> Binding | None:
        """Return the binding of *name* in the namespace of *server*, if there is one."""

    def bound_to(self, digest: str, servers: frozenset[str] | None = None) -> Binding | None:
        """Return the binding of the definition of *digest*, if a name is bound to it.

        Only names of *servers* count, if they are given.
        If several texts of that digest are registered, it is the binding that is oldest
        by revision, then by server and name.
        """

    def schema(
        self, digest: str, servers: frozenset[str] | None = None
    ) -> tuple[Definition, Literal["input", "output"]] | None:
        """Return a bound definition with a schema of *digest*, and which schema it is.

        Only definitions of *servers* count, if they are given.
        If several have it, it is the definition of the binding that is oldest by
        revision, then by server and name; if both schemas do, it is the input.
        """

    def page(
        self, server: str | None, after: tuple[str, str] | None, limit: int, max_bytes: int
    ) -> tuple[tuple[Binding, ...], bool]:
        """Return bindings in the order of server and name, and whether more follow.

        Only those of *server* if it is given, and those that follow the server and
        name of *after*, which need not be bound any more. Returns at least one if
        any remain; otherwise at most *limit* of them, and at most *max_bytes* of
        JSON. Names are in the order of their code points.
        """

    def preview(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> Registered:
        """Return what `register` would do, with the present revision; change nothing.

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
    ) -> Registered:
        """Bind the names of *definitions* in the namespace of *server* to them.

        With *keep*, the definitions are the server's whole set, and its other names
        are removed, except those in *keep*; without, other names stay. All of it is
        one transaction. If a name occurs twice, its definitions take effect one
        after the other, and the last one stays.

        Raises:
            BindingsChanged: names are not bound as *expected*; nothing has changed.
            RequestError: QUOTA_EXCEEDED: an amount that a quota bounds would grow beyond it;
                nothing has changed.
            RegistryUnusable: the change cannot be made durable; nothing has changed.
            ValueError: a text has a lone surrogate, which UTF-8 cannot encode; nothing
                has changed.
        """

    def delete(self, server: str, names: Sequence[str] | None) -> Deleted:
        """Remove *names*, or all names if it is None, from the namespace of *server*.

        Raises:
            RegistryUnusable: the change cannot be made durable; nothing has changed.
        """

    def subscribe(self, observer: Callable[[Change], None]) -> None:
        """Call *observer* with each change from now on, once reads see it.

        It is called in the order of revisions, before the write returns, in any thread. It must
        not block, and must not fail. Whoever applies all changes in order has what the registry
        has, `Change.is_reload` included.
        """

    def take_history(self) -> tuple[Change, ...]:
        """Return the changes that a database still has, in order, without gaps; keep them no more.

        The last of them led to the present revision. There are none of a file, nor when they were
        taken before.
        """

    def count(self) -> int:
        """Return how many names are bound, in all namespaces together."""

    def exceeded_quotas(self) -> tuple[ExceededQuota, ...]:
        """Return the quotas that are exceeded, as those of a file may be that was opened.

        Takes time proportional to the number of servers.
        """

    def close(self) -> None:
        """Close the file or the connections. Reads still work, writes raise `RegistryUnusable`."""
