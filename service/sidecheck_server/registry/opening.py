"""Opening of a registry, of whichever kind its location is."""

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


def _ignore(_event: RegistryEvent) -> None:
    """Tell nobody."""


def open_registry(
    location: RegistryLocation,
    quotas: RegistryQuotas = _DEFAULT_QUOTAS,
    history_seconds: float = HISTORY_SECONDS,
    report: ReportEvent = _ignore,
) -> Registry:
    """Open the registry at *location*.

    A registry in a database keeps its changes for *history_seconds*, and calls *report* in
    any thread.

    Raises:
        RegistryInUse: the file is open already, in this process or another.
        RegistryUnusable: it cannot be read and written, or is not of this release's format; or
            a definition in it is not that of its digest; or the packages are not installed.
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
    """Bring the tables at *location* to this release's layout; return that before and after.

    The layout before is 0 if there was none. May be repeated, and run by several at once.

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
