"""Writes to the registry that fail: the error for callers, and the report for operators."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.registry import Registry
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.registration import RegistryWriter
from support.definitions import define_tool

A, B, C = map(define_tool, "abc")


class ReportedWriter(RegistryWriter):
    """A writer whose reports are kept."""

    def __init__(self, registry: Registry) -> None:
        self.reports: list[str | None] = []
        super().__init__(registry, self.reports.append)


@contextmanager
def read_only(registry: Any) -> Iterator[None]:
    """Let SQLite take the database for read-only."""
    execute = registry._database._connection.execute
    execute("PRAGMA query_only = ON")
    yield
    execute("PRAGMA query_only = OFF")


async def failure_of(writer: RegistryWriter, *, delete: bool) -> tuple[ErrorReason, str]:
    async def register() -> None:
        writer.register("s", [B], keep=None)

    with pytest.raises(RequestError) as raised:
        await (writer.delete("s", None) if delete else register())
    return raised.value.reason, raised.value.message


@pytest.mark.parametrize("delete", [False, True])
async def test_the_error_of_a_failed_write_has_a_remedy(tmp_path: Path, *, delete: bool) -> None:
    """It has no path of a file; the next write may succeed."""
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        writer = ReportedWriter(registry)
        writer.register("s", [A], keep=None)
        with read_only(registry):
            message = (
                "the registry is read-only; let this server write to it and to its folder; "
                "nothing has changed, and reads go on"
            )
            assert (ErrorReason.REGISTRY_UNUSABLE, message) == await failure_of(
                writer, delete=delete
            )
            assert not writer.is_writable
        assert (1, 1) == (registry.count(), registry.revision)
        writer.register("s", [C], keep=None)
        assert writer.is_writable

    fault = f"{path} is read-only; let this server write to it and to its folder"
    assert [fault, None] == writer.reports


async def test_a_failure_is_reported_once_until_it_changes(tmp_path: Path) -> None:
    """A flood of registrations cannot flood the log."""
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        writer = ReportedWriter(registry)
        with read_only(registry):
            for delete in (False, False, False):
                await failure_of(writer, delete=delete)
        path.unlink()
        for _ in range(3):
            await failure_of(writer, delete=False)

    assert ["is read-only", "was deleted"] == [
        " ".join(str(report).removeprefix(str(path)).split()[:2]).rstrip(";,")
        for report in writer.reports
    ]


async def test_an_exceeded_quota_is_not_a_registry_failure() -> None:
    """It is an error of the caller, and is not reported."""
    with closing(open_registry(None, RegistryQuotas(tools=1))) as registry:
        writer = ReportedWriter(registry)
        writer.register("s", [A], keep=None)

        assert ErrorReason.QUOTA_EXCEEDED == (await failure_of(writer, delete=False))[0]
        assert [] == writer.reports
