"""Catalogue: the content of a registry at one revision, in memory.

A catalogue is immutable. A transaction creates the next one, which shares all namespaces
but one with it. Readers need no lock and see one revision throughout.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from sidecheck_server.registry.definitions import Binding, Definition

__all__ = ["Catalogue", "Namespace"]

_NO_BINDINGS: Mapping[str, Binding] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Namespace:
    """The bindings of one server."""

    #: By name.
    bindings: dict[str, Binding]
    #: Their names, sorted by code points.
    names: tuple[str, ...]

    @classmethod
    def of(cls, bindings: dict[str, Binding]) -> "Namespace":
        """Return the namespace with *bindings*."""
        return cls(bindings, tuple(sorted(bindings)))


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The bindings of all servers at one revision."""

    revision: int = 0
    count: int = 0
    #: By server; none is empty.
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    #: The servers, sorted by code points.
    servers: tuple[str, ...] = ()
    #: The oldest binding to a definition of each digest.
    definitions: Mapping[str, Binding] = field(default_factory=dict)
    #: The oldest binding to a definition with a schema of each digest.
    schemas: Mapping[str, Binding] = field(default_factory=dict)

    @classmethod
    def of(cls, revision: int, bindings: Iterable[Binding]) -> "Catalogue":
        """Return the catalogue with *bindings* at *revision*."""
        namespaces: dict[str, dict[str, Binding]] = {}
        definitions: dict[str, Binding] = {}
        schemas: dict[str, Binding] = {}
        count = 0
        for row in sorted(bindings, key=_age):
            binding = _share(row, definitions)
            namespaces.setdefault(binding.server, {})[binding.name] = binding
            definitions.setdefault(binding.definition.digest, binding)
            for digest in _schema_digests(binding):
                schemas.setdefault(digest, binding)
            count += 1
        return cls(
            revision,
            count,
            {server: Namespace.of(named) for server, named in namespaces.items()},
            tuple(sorted(namespaces)),
            definitions,
            schemas,
        )

    def after(
        self, server: str, bind: Mapping[str, Definition], unbind: Iterable[str]
    ) -> "Catalogue":
        """Return the catalogue of the next revision, with names of *server* bound and unbound.

        The names in *unbind* are currently bound. Takes time proportional to the number of
        digests and of names of the server, and to the number of all names if the oldest
        binding to a definition or schema is removed.
        """
        revision = self.revision + 1
        bindings = dict(self.bindings(server))
        removed = [bindings.pop(name) for name in (*unbind, *bind) if name in bindings]
        added = [
            _share(Binding(server, definition, revision), self.definitions)
            for _, definition in sorted(bind.items())
        ]
        bindings.update((binding.name, binding) for binding in added)

        namespaces = dict(self.namespaces)
        if bindings:
            namespaces[server] = Namespace.of(bindings)
        else:
            namespaces.pop(server, None)
        same_servers = (server in namespaces) == (server in self.namespaces)
        return Catalogue(
            revision,
            self.count - len(removed) + len(added),
            namespaces,
            self.servers if same_servers else tuple(sorted(namespaces)),
            _succeed(self.definitions, _definition_digests, removed, added, namespaces),
            _succeed(self.schemas, _schema_digests, removed, added, namespaces),
        )

    def bindings(self, server: str) -> Mapping[str, Binding]:
        """Return the bindings of *server* by name."""
        namespace = self.namespaces.get(server)
        return _NO_BINDINGS if namespace is None else namespace.bindings

    def find(self, server: str, name: str) -> Binding | None:
        """Return the binding of *name* in the namespace of *server*, if there is one."""
        namespace = self.namespaces.get(server)
        return None if namespace is None else namespace.bindings.get(name)

    def schema(self, digest: str) -> tuple[Definition, Literal["input", "output"]] | None:
        """Return the first bound definition with a schema of *digest*, and which it is."""
        oldest = self.schemas.get(digest)
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

    def _following(self, server: str | None, after: tuple[str, str] | None) -> Iterator[Binding]:
        """Yield the bindings that follow *after*, of *server* or of all."""
        last_server, last_name = after or ("", "")
        if server is None:
            servers: Sequence[str] = self.servers[bisect_left(self.servers, last_server) :]
        else:
            servers = (server,) if server in self.namespaces and server >= last_server else ()
        for owner in servers:
            namespace = self.namespaces[owner]
            # The empty name sorts first: it was only listed if *after* is given.
            listed = after is not None and owner == last_server
            start = bisect_right(namespace.names, last_name) if listed else 0
            for name in namespace.names[start:]:
                yield namespace.bindings[name]


def _age(binding: Binding) -> tuple[int, str, str]:
    """Return the key that sorts bindings, the oldest first, the same in every process."""
    return (binding.revision, binding.server, binding.name)


def _definition_digests(binding: Binding) -> tuple[str, ...]:
    return (binding.definition.digest,)


def _schema_digests(binding: Binding) -> tuple[str, ...]:
    definition = binding.definition
    if definition.output_schema_digest is None:
        return (definition.input_schema_digest,)
    return (definition.input_schema_digest, definition.output_schema_digest)


def _share(binding: Binding, oldest: Mapping[str, Binding]) -> Binding:
    """Return *binding*, sharing the definition object that is bound already if it is equal."""
    known = oldest.get(binding.definition.digest)
    if known is None or known.definition != binding.definition:
        return binding
    return Binding(binding.server, known.definition, binding.revision)


def _succeed(
    oldest: Mapping[str, Binding],
    digests: Callable[[Binding], tuple[str, ...]],
    removed: Sequence[Binding],
    added: Sequence[Binding],
    namespaces: Mapping[str, Namespace],
) -> dict[str, Binding]:
    """Return the index *oldest* after bindings were removed and others added.

    *added* is sorted by age. If the oldest binding of a digest is removed, all bindings
    are searched for the next one.
    """
    index = dict(oldest)
    orphans = {
        digest for binding in removed for digest in digests(binding) if index.get(digest) is binding
    }
    for digest in orphans:
        del index[digest]
    if orphans:
        for namespace in namespaces.values():
            for binding in namespace.bindings.values():
                for digest in orphans.intersection(digests(binding)):
                    if digest not in index or _age(binding) < _age(index[digest]):
                        index[digest] = binding
    for binding in added:
        for digest in digests(binding):
            index.setdefault(digest, binding)
    return index
