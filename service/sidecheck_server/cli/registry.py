"""`sidecheck registry`: migrate, inspect, export and import a registry, offline."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from sidecheck_server.cli.files import write_bytes, write_output
from sidecheck_server.cli.options import FILE, form_option, format_examples
from sidecheck_server.cli.reports import format_count, format_json
from sidecheck_server.cli.rows import escape, fact_rows, write_rows
from sidecheck_server.config.settings import Settings, UnusableSettingsError, read_settings
from sidecheck_server.core.errors import RequestError
from sidecheck_server.registry import Registry, RegistryInUse, RegistryUnusable
from sidecheck_server.registry.definitions import Action, Definition
from sidecheck_server.registry.exchange import DamagedExport, export_lines, read_export
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import migrate_registry, open_registry

__all__ = ["registry"]

Command = TypeVar("Command", bound=Callable[..., Any])


class _UnusableError(click.ClickException):
    """A setting is unusable."""

    exit_code = 2


def _location_options(command: Command) -> Command:
    """Add the options that name the registry to *command*."""
    command = click.option(
        "--config", type=click.Path(path_type=Path), help="Settings file of the server, in TOML."
    )(command)
    return click.option(
        "--registry",
        "location",
        metavar="FILE|URI",
        help="Registry: a file, or postgresql://…  [default: SIDECHECK_REGISTRY]",
    )(command)


@click.group(
    epilog=format_examples(
        "sidecheck registry migrate --registry postgresql://owner@db.internal/sidecheck",
        "sidecheck registry status --registry postgresql://sidecheck@db.internal/sidecheck",
        "sidecheck registry export --registry tools.db > tools.jsonl",
        "sidecheck registry import tools.jsonl --registry postgresql://…",
    )
)
def registry() -> None:
    """Migrate, inspect, export and import a registry, without a server.

    A registry in a file must not be in use meanwhile; one on PostgreSQL may be. Settings are those
    of `sidecheck serve`. Every command exits with 0 on success, with 1 if the registry cannot be
    used, and with 2 if the command, a setting or a file to import is wrong.
    """


@registry.command(epilog=format_examples("sidecheck registry migrate --registry postgresql://…"))
@_location_options
def migrate(location: str | None, config: Path | None) -> None:
    """Migrate the tables of a registry on PostgreSQL to the layout of this release.

    Creates the tables if there are none. May be repeated, interrupted, and run on several machines
    at a time. Migration to an older layout is not possible. A registry in a file needs no
    migration.
    """
    settings = _settings(location, config)
    with _translate_failures():
        old_layout, new_layout = migrate_registry(_database(settings))
    if old_layout == new_layout:
        write_output(f"layout {new_layout}: nothing to migrate")
    else:
        write_output(f"layout {new_layout}: migrated from {old_layout or 'an empty database'}")


@registry.command(
    epilog=format_examples(
        "sidecheck registry status --registry tools.db --format json | jq .tools"
    )
)
@_location_options
@form_option
def status(location: str | None, config: Path | None, form: str) -> None:
    """Show the kind, identity and size of a registry.

    Reads and verifies the registry as a server does at its start.
    """
    with _open(_settings(location, config)) as (opened_registry, settings):
        bindings, _next_page = opened_registry.page(None, None, sys.maxsize, sys.maxsize)
        history = opened_registry.take_history()
        content: dict[str, Any] = {
            "registry": str(settings.registry),
            "kind": "postgresql" if isinstance(settings.registry, PostgresLocation) else "file",
            "identity": opened_registry.identity,
            "revision": opened_registry.revision,
            "history_since": history[0].revision if history else None,
            "age_seconds": round(opened_registry.age_seconds, 3),
            "tools": len(bindings),
            "servers": len({binding.server for binding in bindings}),
            "bytes": sum(binding.definition.stored_size for binding in bindings),
            "exceeded_quotas": [excess.quota for excess in opened_registry.exceeded_quotas()],
        }
    if form == "json":
        write_output(format_json(content))
        return
    rows = [(name.replace("_", " "), _format_value(value)) for name, value in content.items()]
    write_rows(fact_rows(rows))


@registry.command(
    epilog=format_examples("sidecheck registry export --registry tools.db > tools.jsonl")
)
@_location_options
def export(location: str | None, config: Path | None) -> None:
    """Write all tools of a registry to standard output, as one JSON object per line."""
    with _open(_settings(location, config)) as (opened_registry, _used_settings):
        write_bytes(line.encode() + b"\n" for line in export_lines(opened_registry))


@registry.command(
    "import",
    epilog=format_examples("sidecheck registry import tools.jsonl --registry postgresql://…"),
)
@click.argument("file", type=FILE)
@_location_options
def import_(file: str, location: str | None, config: Path | None) -> None:
    """Replace the tools of each server in FILE, an export, by those of the file.

    Nothing is registered if any line is damaged. Each server is one transaction. If one fails, for
    example because of a quota, the servers before it are imported, and the import may be repeated.
    Servers that are not in the file are not changed.
    """
    settings = _settings(location, config)
    try:
        with click.open_file(file, "rb") as lines:
            servers = read_export(lines)
    except OSError as error:
        raise click.UsageError(f"cannot read {escape(file)}: {error.strerror}") from None
    except DamagedExport as error:
        raise _UnusableError(f"{escape(file)}: {error}; nothing was imported") from None
    with _open(settings, may_create=True) as (opened_registry, _used_settings):
        _register_all(opened_registry, servers)


def _register_all(opened_registry: Registry, servers: Mapping[str, Sequence[Definition]]) -> None:
    changed_count = removed_count = 0
    for imported_count, (server, definitions) in enumerate(servers.items()):
        try:
            result = opened_registry.register(server, definitions, keep=frozenset())
        except (RegistryUnusable, RequestError) as error:
            message = error.message if isinstance(error, RequestError) else str(error)
            raise click.ClickException(
                f"server {escape(server)!r}: {escape(message)}; {imported_count:,} of "
                f"{format_count(len(servers), 'server')} imported before it"
            ) from None
        changed_count += sum(binding.action is not Action.UNCHANGED for binding in result.bound)
        removed_count += len(result.removed)
    tools = sum(map(len, servers.values()))
    write_output(
        f"{format_count(tools, 'tool')} of {format_count(len(servers), 'server')} imported: "
        f"{changed_count:,} changed, {removed_count:,} removed, "
        f"revision {opened_registry.revision:,}"
    )


def _settings(location: str | None, config: Path | None) -> Settings:
    try:
        settings = read_settings(config, registry=location)
    except UnusableSettingsError as error:
        raise _UnusableError(escape(str(error))) from None
    if settings.registry is None:
        raise click.UsageError("no registry: give --registry, or set SIDECHECK_REGISTRY")
    return settings


def _database(settings: Settings) -> PostgresLocation:
    if not isinstance(settings.registry, PostgresLocation):
        raise click.UsageError(
            "a registry in a file needs no migration; give --registry postgresql://…"
        )
    return settings.registry


@contextmanager
def _open(settings: Settings, *, may_create: bool = False) -> Iterator[tuple[Registry, Settings]]:
    location = settings.registry
    if isinstance(location, Path) and not may_create and not location.exists():
        raise click.UsageError(f"{escape(str(location))} does not exist")
    with _translate_failures():
        opened_registry = open_registry(
            location, settings.registry_quotas, settings.registry_history_seconds
        )
    with closing(opened_registry):
        yield opened_registry, settings


@contextmanager
def _translate_failures() -> Iterator[None]:
    """Translate failures of the registry into errors of the command."""
    try:
        yield
    except (RegistryInUse, RegistryUnusable) as error:
        raise click.ClickException(escape(str(error))) from None


def _format_value(value: object) -> list[str]:
    """Return *value* as lines of text, "none" for None or an empty list."""
    match value:
        case None | []:
            return ["none"]
        case list():
            return [escape(str(item)) for item in value]
        case int():
            return [f"{value:,}"]
        case _:
            return [escape(str(value))]
