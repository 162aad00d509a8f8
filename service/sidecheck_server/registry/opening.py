"""Opening of registries in memory, in a file or in a PostgreSQL database."""

from sidecheck_server.registry import Registry, RegistryUnusable, sqlite
from sidecheck_server.registry.location import (
    HISTORY_SECONDS,
    PostgresLocation,
    RegistryLocation,
)
from sidecheck_server.registry.postgres.steps import RegistryEvent, ReportEvent
from sidecheck_server.registry.quotas import RegistryQuotas

__all__ = ["migrate_registry", "open_registry"]

_DEFAULT_QUOTAS = RegistryQuotas()


def _ignore_event(_event: RegistryEvent) -> None:
    """Discard the event."""


def open_registry(
    location: RegistryLocation,
    quotas: RegistryQuotas = _DEFAULT_QUOTAS,
    history_seconds: float = HISTORY_SECONDS,
    report: ReportEvent = _ignore_event,
) -> Registry:
    """Open the registry at *location*.

    A registry in a database keeps its changes for *history_seconds*, and calls *report* in
    any thread.

    Raises:
        RegistryInUse: the file is open already, in this process or another.
        RegistryUnusable: the registry cannot be read and written, has another format than this
            release, or a definition in it does not match its digest; or the packages are not
            installed.
    """
    if not isinstance(location, PostgresLocation):
        return sqlite.open_registry(location, quotas)
    try:
        from sidecheck_server.registry.postgres.registry import (  # noqa: PLC0415 - an extra
            PostgresRegistry,
        )
    except ImportError as error:
        raise _missing_packages(location) from error
    return PostgresRegistry(location, quotas, history_seconds, report)


def migrate_registry(location: PostgresLocation) -> tuple[int, int]:
    """Migrate the tables at *location*; return the old and the new layout.

    The old layout is 0 if there was none. Migrations may be repeated, and run concurrently.

    Raises:
        RegistryUnusable: the database cannot be reached or changed, or a later release has
            migrated it; or the packages are not installed.
    """
    try:
        from sidecheck_server.registry.postgres.migration import migrate  # noqa: PLC0415
    except ImportError as error:
        raise _missing_packages(location) from error
    return migrate(location)


def _missing_packages(location: PostgresLocation) -> RegistryUnusable:
    return RegistryUnusable(
        str(location),
        "needs packages that are not installed: pip install 'psycopg[binary]>=3.3.9,<3.4'",
    )
