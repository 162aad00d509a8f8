"""Registries of every kind, for tests of their common behavior."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

import pytest
from sidecheck_server.registry import Registry
from sidecheck_server.registry.location import PostgresLocation, RegistryLocation
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.quotas import RegistryQuotas

OpenRegistry: TypeAlias = Callable[..., Registry]


@pytest.fixture(params=["file", "memory", "postgres"])
def open_any(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenRegistry]:
    """Return a function that opens a registry with quotas; all are closed after the test.

    Definitions of these tests may have digests that are made up.
    """
    location: RegistryLocation = None
    if request.param == "file":
        location = tmp_path / "registry.db"
    if request.param == "postgres":
        monkeypatch.setattr(
            "sidecheck_server.registry.postgres.verified_reads.find_altered", lambda _: None
        )
        postgres = request.getfixturevalue("postgres")
        location = PostgresLocation(postgres.uri(postgres.create_database()))
    with ExitStack() as stack:

        def open_one(quotas: RegistryQuotas | None = None) -> Registry:
            opened = open_registry(location, quotas or RegistryQuotas())
            return stack.enter_context(closing(opened))

        yield open_one


@pytest.fixture
def registry(open_any: OpenRegistry) -> Registry:
    """Return an empty registry of each kind."""
    return open_any()
