"""Stateful comparison of the registry with a dictionary."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sidecheck_server.core.types import Document
from sidecheck_server.registry.definitions import (
    Action,
    Binding,
    Bound,
    Definition,
    Deleted,
    Registered,
)
from sidecheck_server.registry.sqlite import open_registry

SERVERS = ["", "s", "S", "é\0"]
NAMES = ["", "a", "b", "\0", "\ud7ff", "\U00010000"]
#: Schema digests (input, output) of each content; contents share schemas on both sides.
SCHEMAS = [("x", None), ("x", "y"), ("y", "x"), ("z", "z")]
VERSIONS = ["2025-11-25", "2026-07-28"]
DOCUMENTS = [(), (Document("urn:d", b"1"),), (Document("urn:e", b""), Document("urn:d", b"1"))]


def define(
    name: str, content: int, text: bytes, documents: tuple[Document, ...], version: str
) -> Definition:
    input_schema, output_schema = SCHEMAS[content]
    return Definition(
        f"{name}:{content}", name, text, documents, input_schema, output_schema, version
    )


definitions = st.builds(
    define,
    st.sampled_from(NAMES),
    st.integers(0, len(SCHEMAS) - 1),
    st.sampled_from([b"", b"{}", b"\0\xff"]),
    st.sampled_from(DOCUMENTS),
    st.sampled_from(VERSIONS),
)
names = st.sampled_from(NAMES)
servers = st.sampled_from(SERVERS)


class InMemory(RuleBasedStateMachine):
    """Applies the same operations to a registry and a dictionary, and compares them."""

    def __init__(self) -> None:
        super().__init__()
        self.registry = open_registry(None)
        self.model: dict[tuple[str, str], Binding] = {}
        self.revision = 0

    @rule(
        server=servers,
        definitions=st.lists(definitions, max_size=5),
        keep=st.none() | st.frozensets(names, max_size=2),
    )
    def register(
        self, server: str, definitions: Sequence[Definition], keep: frozenset[str] | None
    ) -> None:
        bound = []
        changed: dict[str, Definition] = {}
        current = {
            name: binding.definition
            for (bound_server, name), binding in self.model.items()
            if bound_server == server
        }
        for definition in definitions:
            previous = current.get(definition.name)
            if previous and (previous.digest, previous.protocol_version) == (
                definition.digest,
                definition.protocol_version,
            ):
                bound.append(Bound(Action.UNCHANGED, previous.digest))
            else:
                action = Action.CHANGED if previous else Action.CREATED
                bound.append(Bound(action, previous.digest if previous else None))
                current[definition.name] = changed[definition.name] = definition
        named = {definition.name for definition in definitions}
        removed = () if keep is None else tuple(sorted(current.keys() - named - keep))

        preview = Registered(tuple(bound), removed, self.revision)
        assert preview == self.registry.preview(server, definitions, keep=keep)
        self.revision += bool(changed or removed)
        for name in removed:
            del self.model[server, name]
        for name, definition in changed.items():
            self.model[server, name] = Binding(server, definition, self.revision)
        expected = Registered(tuple(bound), removed, self.revision)
        assert expected == self.registry.register(server, definitions, keep=keep)

    @rule(server=servers, names=st.none() | st.lists(names, max_size=4))
    def delete(self, server: str, names: list[str] | None) -> None:
        bound = {name for bound_server, name in self.model if bound_server == server}
        requested = bound if names is None else set(names)
        self.revision += bool(bound & requested)
        for name in bound & requested:
            del self.model[server, name]
        expected = Deleted(
            tuple(sorted(bound & requested)), tuple(sorted(requested - bound)), self.revision
        )
        assert expected == self.registry.delete(server, names)

    @rule(server=st.none() | servers, after=st.none() | st.tuples(servers, names))
    def list_page(self, server: str | None, after: tuple[str, str] | None) -> None:
        following = [
            binding
            for key, binding in sorted(self.model.items())
            if server in (None, key[0]) and (after is None or key > after)
        ]
        expected = (tuple(following[:2]), len(following) > 2)
        assert expected == self.registry.page(server, after, 2, 1000)

    @invariant()
    def compare(self) -> None:
        oldest = sorted(self.model.values(), key=lambda b: (b.revision, b.server, b.name))
        by_digest: dict[str, Binding] = {}
        by_schema: dict[str, tuple[Definition, str]] = {}
        for binding in oldest:
            definition = binding.definition
            by_digest.setdefault(definition.digest, binding)
            by_schema.setdefault(definition.input_schema_digest, (definition, "input"))
            if definition.output_schema_digest:
                by_schema.setdefault(definition.output_schema_digest, (definition, "output"))

        registry = self.registry
        assert (self.revision, len(self.model)) == (registry.revision, registry.count())
        keys = [(server, name) for server in SERVERS for name in NAMES]
        assert [self.model.get(key) for key in keys] == [registry.find(*key) for key in keys]
        digests = [f"{name}:{content}" for name in NAMES for content in range(len(SCHEMAS))]
        assert [by_digest.get(digest) for digest in digests] == [
            registry.bound_to(digest) for digest in digests
        ]
        assert [by_schema.get(digest) for digest in "xyz"] == [
            registry.schema(digest) for digest in "xyz"
        ]

    def teardown(self) -> None:
        self.registry.close()


class InFile(InMemory):
    """Repeats the comparison with a file, which is closed and reopened in between."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.registry.close()
        self.registry = open_registry(self.folder / "registry.db")

    @rule()
    def reopen(self) -> None:
        self.registry.close()
        self.registry = open_registry(self.folder / "registry.db")

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


InMemory.TestCase.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)
InFile.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)

TestARegistryInMemoryIsADictionary = InMemory.TestCase
TestARegistryInAFileIsADictionary = InFile.TestCase
