"""Catalogue: the content of a registry at one revision, in memory.

A catalogue is immutable. A transaction creates the next one, which shares all unchanged parts.
So readers need no lock and see one revision throughout.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal
from uuid import UUID, uuid4

from sidecheck_server.registry.definitions import Binding, Change, Definition
from sidecheck_server.registry.quotas import Usage
from sidecheck_server.registry.sorted_map import Key, SortedMap

__all__ = ["Catalogue"]


@dataclass(frozen=True, slots=True)
class _ServerUsage:
    """Amounts of one server that has tools."""

    tools: int
    bytes: int


_NO_USAGE = _ServerUsage(0, 0)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The bindings of all servers at one revision."""

    revision: int = 0
    #: The numbers of bindings, of servers that have any, and of stored bytes.
    count: int = 0
    server_count: int = 0
    bytes: int = 0
    #: Keys: server and name, in the order of their code points.
    bindings: SortedMap[Binding] = field(default_factory=SortedMap)
    #: Keys: digest of the definition, then age (`_age_key`).
    definitions: SortedMap[Binding] = field(default_factory=SortedMap)
    #: Keys: digest of a schema, then age (`_age_key`).
    schemas: SortedMap[Binding] = field(default_factory=SortedMap)
    #: Keys: servers that have tools.
    servers: SortedMap[_ServerUsage] = field(default_factory=SortedMap)
    #: Identity of the last change. A file does not store it, so each opening has a random one.
    change_id: UUID = field(default_factory=uuid4)

    @classmethod
    def of(
        cls, revision: int, bindings: Iterable[Binding], change_id: UUID | None = None
    ) -> "Catalogue":
        """Return the catalogue with *bindings* at *revision*."""
        oldest: dict[str, Definition] = {}
        shared = []
        for binding in sorted(bindings, key=_age_key):
            known = oldest.setdefault(binding.definition.digest, binding.definition)
            shared.append(_share_definition(binding, known))
        return cls().with_bindings(revision, (), shared, change_id or uuid4())

    def with_change(self, change: Change) -> "Catalogue":
        """Return the catalogue after *change*.

        Takes time proportional to the number of names that change times the logarithm of the
        number of all names.
        """
        names = {*change.unbound, *(binding.name for binding in change.bound)}
        removed = (self.find(change.server, name) for name in names)
        return self.with_bindings(
            change.revision,
            [binding for binding in removed if binding],
            self._share_definitions(change.bound),
            change.id,
        )

    def find(self, server: str, name: str) -> Binding | None:
        """Return the binding of *name* in the namespace of *server*, if there is one."""
        return self.bindings.get((server, name))

    def names(self, server: str) -> Iterator[str]:
        """Yield the names that are bound in the namespace of *server*, in order."""
        return (binding.name for binding in self._following(server, None))

    def bound_to(self, digest: str, servers: frozenset[str] | None = None) -> Binding | None:
        """Return the oldest binding to a definition of *digest*, of *servers* or of all."""
        return _find_oldest(self.definitions, digest, servers)

    def schema(
        self, digest: str, servers: frozenset[str] | None = None
    ) -> tuple[Definition, Literal["input", "output"]] | None:
        """Return the oldest definition with a schema of *digest*, and its side."""
        oldest = _find_oldest(self.schemas, digest, servers)
        if oldest is None:
            return None
        definition = oldest.definition
        return definition, "input" if definition.input_schema_digest == digest else "output"

    def page(
        self, server: str | None, after: tuple[str, str] | None, limit: int, max_bytes: int
    ) -> tuple[tuple[Binding, ...], bool]:
        """Return bindings in order, at least one if any remain, and whether more follow."""
        page: list[Binding] = []
        size = 0
        for binding in self._following(server, after):
            size += binding.definition.size
            if page and (len(page) >= limit or size > max_bytes):
                return tuple(page), True
            page.append(binding)
        return tuple(page), False

    def usage(self, server: str) -> Usage:
        """Return the amounts that quotas bound, for *server* and for all servers."""
        server_usage = self.servers.get((server,)) or _NO_USAGE
        return Usage(
            self.count, self.server_count, self.bytes, server_usage.tools, server_usage.bytes
        )

    def usages(self) -> Iterator[Usage]:
        """Yield the usage of every server."""
        for _, server_usage in self.servers.starting_at(()):
            yield Usage(
                self.count, self.server_count, self.bytes, server_usage.tools, server_usage.bytes
            )

    def _following(self, server: str | None, after: tuple[str, str] | None) -> Iterator[Binding]:
        """Yield the bindings that follow *after*, of *server* or of all."""
        first: Key = () if server is None else (server,)
        for key, binding in self.bindings.starting_at(max(first, after or ())):
            if server is not None and key[0] != server:
                return
            if key != after:
                yield binding

    def _share_definitions(self, bindings: Iterable[Binding]) -> list[Binding]:
        """Return *bindings* with the existing objects of equal definitions."""
        shared = []
        for binding in bindings:
            oldest = self.bound_to(binding.definition.digest)
            known = binding.definition if oldest is None else oldest.definition
            shared.append(_share_definition(binding, known))
        return shared

    def with_bindings(
        self,
        revision: int,
        removed: Sequence[Binding],
        added: Sequence[Binding],
        change_id: UUID,
    ) -> "Catalogue":
        """Return the catalogue at *revision*, without *removed* and with *added*."""
        names: dict[Key, Binding | None] = {}
        definitions: dict[Key, Binding | None] = {}
        schemas: dict[Key, Binding | None] = {}
        usages: dict[Key, _ServerUsage] = {}
        changes = chain(((binding, -1) for binding in removed), ((binding, 1) for binding in added))
        for binding, sign in changes:
            value = binding if sign > 0 else None
            definition = binding.definition
            server, name = binding.server, binding.name
            names[server, name] = value
            age = (binding.revision, server, name)
            definitions[definition.digest, *age] = value
            schemas[definition.input_schema_digest, *age] = value
            if definition.output_schema_digest is not None:
                schemas[definition.output_schema_digest, *age] = value
            key = (server,)
            usage = usages.get(key) or self.servers.get(key) or _NO_USAGE
            usages[key] = _ServerUsage(
                usage.tools + sign, usage.bytes + sign * definition.stored_size
            )
        before = sum(self.servers.get(key) is not None for key in usages)
        after = sum(usage.tools > 0 for usage in usages.values())
        size = sum(binding.definition.stored_size for binding in added) - sum(
            binding.definition.stored_size for binding in removed
        )
        return Catalogue(
            revision,
            self.count + len(added) - len(removed),
            self.server_count + after - before,
            self.bytes + size,
            self.bindings.with_changes(names),
            self.definitions.with_changes(definitions),
            self.schemas.with_changes(schemas),
            self.servers.with_changes(
                {key: usage if usage.tools else None for key, usage in usages.items()}
            ),
            change_id,
        )


def _age_key(binding: Binding) -> tuple[int, str, str]:
    """Return the key that sorts bindings, the oldest first, the same in every process."""
    return (binding.revision, binding.server, binding.name)


def _find_oldest(
    index: SortedMap[Binding], digest: str, servers: frozenset[str] | None
) -> Binding | None:
    """Return the first binding of *digest* in *index*, of *servers* or of all."""
    for key, binding in index.starting_at((digest,)):
        if key[0] != digest:
            return None
        if servers is None or binding.server in servers:
            return binding
    return None


def _share_definition(binding: Binding, known: Definition) -> Binding:
    """Return *binding* with the object *known* if its definition is equal to that."""
    if known is binding.definition or known != binding.definition:
        return binding
    return Binding(binding.server, known, binding.revision)
