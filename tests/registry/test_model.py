"""Stateful comparison of the registry with a dictionary."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from time import monotonic, sleep
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.types import Document, JsonValue
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import (
    Action,
    Binding,
    BindingResult,
    Definition,
    RegistrationResult,
    RemovalResult,
)
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry as open_anywhere
from sidecheck_server.registry.quotas import RegistryQuotas, Usage
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool
from support.running_postgres import RunningPostgres

Bindings = dict[tuple[str, str], Binding]

SERVERS = ["", "s", "S", "é\0"]
NAMES = ["", "a", "b", "\0", "\ud7ff", "\U00010000"]
#: Schemas (input, output) of each content; contents share schemas on both sides.
Schema = dict[str, JsonValue]
X, Y, Z = (Schema({"type": "object", "title": title}) for title in "xyz")
SCHEMAS: list[tuple[Schema, Schema | None]] = [(X, None), (X, Y), (Y, X), (Z, Z)]
SCHEMA_DIGESTS = [digest_of(schema) for schema in (X, Y, Z)]
VERSIONS = ["2025-11-25", "2026-07-28"]
DOCUMENTS = [(), (Document("urn:d", b"1"),), (Document("urn:e", b""), Document("urn:d", b"1"))]
QUOTAS = [
    RegistryQuotas(),
    RegistryQuotas(tools=8, servers=3, bytes=1200, server_tools=4, server_bytes=500),
    RegistryQuotas(tools=2, servers=1, bytes=300, server_tools=1, server_bytes=150),
]


def define(
    name: str, content: int, spaces: int, documents: tuple[Document, ...], version: str
) -> Definition:
    input_schema, output_schema = SCHEMAS[content]
    properties: dict[str, object] = {"inputSchema": input_schema}
    if output_schema is not None:
        properties["outputSchema"] = output_schema
    return define_tool(name, properties, documents, version=version, spaces=spaces)


def usage_of(model: Bindings, server: str) -> Usage:
    """Return the amounts that quotas bound, counted one by one."""
    sizes = {key: binding.definition.stored_size for key, binding in model.items()}
    own = [size for key, size in sizes.items() if key[0] == server]
    servers = {key[0] for key in sizes}
    return Usage(len(sizes), len(servers), sum(sizes.values()), len(own), sum(own))


def exceeded_by(before: Usage, after: Usage, quotas: RegistryQuotas) -> str | None:
    """Return the first quota beyond which a registration grows, if there is one."""
    return next(
        (
            name
            for name, quota in asdict(quotas).items()
            if getattr(after, name) > max(quota, getattr(before, name))
        ),
        None,
    )


definitions = st.builds(
    define,
    st.sampled_from(NAMES),
    st.integers(0, len(SCHEMAS) - 1),
    st.sampled_from([0, 1, 100]),
    st.sampled_from(DOCUMENTS),
    st.sampled_from(VERSIONS),
)
names = st.sampled_from(NAMES)
servers = st.sampled_from(SERVERS)


class InMemory(RuleBasedStateMachine):
    """Applies the same operations to a registry and a dictionary, and compares them."""

    def __init__(self) -> None:
        super().__init__()
        self.quotas = QUOTAS[1]
        self.registry: Registry = open_registry(None, self.quotas)
        self.model: Bindings = {}
        self.revision = 0
        #: All definitions that were ever bound, so that unbound ones are looked up too.
        self.digests: set[str] = set()
        self.schema_digests = set(SCHEMA_DIGESTS)

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
                bound.append(BindingResult(Action.UNCHANGED, previous.digest))
            else:
                action = Action.CHANGED if previous else Action.CREATED
                bound.append(BindingResult(action, previous.digest if previous else None))
                current[definition.name] = changed[definition.name] = definition
        named = {definition.name for definition in definitions}
        removed = () if keep is None else tuple(sorted(current.keys() - named - keep))

        revision = self.revision + bool(changed or removed)
        model = dict(self.model)
        for name in removed:
            del model[server, name]
        for name, definition in changed.items():
            model[server, name] = Binding(server, definition, revision)
        quota = exceeded_by(usage_of(self.model, server), usage_of(model, server), self.quotas)
        if quota is not None:
            for bind in (self.registry.preview, self.registry.register):
                with pytest.raises(RequestError) as raised:
                    bind(server, definitions, keep=keep)
                assert ErrorReason.QUOTA_EXCEEDED == raised.value.reason
                assert quota == raised.value.metadata["quota"]
            return
        preview = RegistrationResult(tuple(bound), removed, self.revision)
        assert preview == self.registry.preview(server, definitions, keep=keep)
        self.revision, self.model = revision, model
        expected = RegistrationResult(tuple(bound), removed, self.revision)
        assert expected == self.registry.register(server, definitions, keep=keep)

    @rule(server=servers, names=st.none() | st.lists(names, max_size=4))
    def delete(self, server: str, names: list[str] | None) -> None:
        bound = {name for bound_server, name in self.model if bound_server == server}
        requested = bound if names is None else set(names)
        self.revision += bool(bound & requested)
        for name in bound & requested:
            del self.model[server, name]
        expected = RemovalResult(
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
        assert expected == self.registry.page(server, after, 2, 10_000)

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
        self.digests.update(by_digest)
        assert {digest: by_digest.get(digest) for digest in self.digests} == {
            digest: registry.bound_to(digest) for digest in self.digests
        }
        self.schema_digests.update(by_schema)
        assert {digest: by_schema.get(digest) for digest in self.schema_digests} == {
            digest: registry.schema(digest) for digest in self.schema_digests
        }
        usages = [usage_of(self.model, server) for server in {key[0] for key in self.model}]
        assert {
            (name, quota, usage)
            for name, quota in asdict(self.quotas).items()
            if (usage := max((getattr(usage, name) for usage in usages), default=0)) > quota
        } == {astuple(exceeded) for exceeded in registry.exceeded_quotas()}

    def teardown(self) -> None:
        self.registry.close()


class InFile(InMemory):
    """Repeats the comparison with a file, which is closed and reopened in between."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.registry.close()
        self.registry = open_registry(self.folder / "registry.db", self.quotas)

    @rule(quotas=st.sampled_from(QUOTAS))
    def reopen(self, quotas: RegistryQuotas) -> None:
        self.registry.close()
        self.quotas = quotas
        self.registry = open_registry(self.folder / "registry.db", quotas)

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


class InDatabase(InMemory):
    """Repeats the comparison with a database that two servers share, one after the other."""

    server: ClassVar[RunningPostgres]

    def __init__(self) -> None:
        super().__init__()
        self.registry.close()
        self.location = PostgresLocation(self.server.uri(self.server.create_database()))
        self.registry, self.second = self.open(), self.open()

    def open(self) -> Registry:
        return open_anywhere(self.location, self.quotas)

    @rule()
    def switch(self) -> None:
        """Go on with the other server, which may have changed nothing yet."""
        deadline = monotonic() + 120
        while self.second.revision < self.revision:
            assert monotonic() < deadline
            sleep(0.002)
        self.registry, self.second = self.second, self.registry

    @rule(server=servers, names=st.none() | st.lists(names, max_size=4))
    def write_elsewhere(self, server: str, names: list[str] | None) -> None:
        """Write with the other server, which may not have followed yet."""
        self.registry, self.second = self.second, self.registry
        self.delete(server, names)

    @rule(quotas=st.sampled_from(QUOTAS))
    def reopen(self, quotas: RegistryQuotas) -> None:
        self.quotas = quotas
        self.registry.close()
        self.second.close()
        self.registry, self.second = self.open(), self.open()

    def teardown(self) -> None:
        super().teardown()
        self.second.close()


def test_a_registry_in_a_database_is_a_dictionary(postgres: RunningPostgres) -> None:
    """Either server may write and read."""
    machine = type("Machine", (InDatabase,), {"server": postgres})
    run_state_machine_as_test(machine, settings=InDatabase.TestCase.settings)


InMemory.TestCase.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)
InFile.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
InDatabase.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)

TestARegistryInMemoryIsADictionary = InMemory.TestCase
TestARegistryInAFileIsADictionary = InFile.TestCase
