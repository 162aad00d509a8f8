"""`sidecheck registry`: migrate, inspect, export and import a registry, without a server."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from sidecheck_server.cli.files import write_bytes, write_output
from sidecheck_server.cli.options import FILE, examples, form_option
from sidecheck_server.cli.reports import counted, in_json
from sidecheck_server.cli.rows import facts, printable, write_rows
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
    epilog=examples(
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


@registry.command(epilog=examples("sidecheck registry migrate --registry postgresql://…"))
@_location_options
def migrate(location: str | None, config: Path | None) -> None:
    """Bring the tables of a registry on PostgreSQL to the layout of this release.

    Creates them if there are none. May be repeated, interrupted, and started on several machines
    at once; there is no way back to an older layout. A registry in a file needs no migration.
    """
    settings = _settings(location, config)
    with _failures():
        before, after = migrate_registry(_database(settings))
    if before == after:
        write_output(f"layout {after}: nothing to migrate")
    else:
        write_output(f"layout {after}: migrated from {before or 'an empty database'}")


@registry.command(
    epilog=examples("sidecheck registry status --registry tools.db --format json | jq .tools")
)
@_location_options
@form_option
def status(location: str | None, config: Path | None, form: str) -> None:
    """Show what a registry is, and how much it holds.

    It is read and verified as at the start of a server.
    """
    with _opened(_settings(location, config)) as (opened, settings):
        bindings, _ = opened.page(None, None, sys.maxsize, sys.maxsize)
        history = opened.take_history()
        content: dict[str, Any] = {
            "registry": str(settings.registry),
            "kind": "postgresql" if isinstance(settings.registry, PostgresLocation) else "file",
            "identity": opened.identity,
            "revision": opened.revision,
            "history_since": history[0].revision if history else None,
            "age_seconds": round(opened.age_seconds, 3),
            "tools": len(bindings),
            "servers": len({binding.server for binding in bindings}),
            "bytes": sum(binding.definition.stored_size for binding in bindings),
            "exceeded_quotas": [exceeded.quota for exceeded in opened.exceeded_quotas()],
        }
    if form == "json":
        write_output(in_json(content))
        return
    rows = [(name.replace("_", " "), _shown(value)) for name, value in content.items()]
    write_rows(facts(rows))


@registry.command(epilog=examples("sidecheck registry export --registry tools.db > tools.jsonl"))
@_location_options
def export(location: str | None, config: Path | None) -> None:
    """Write all tools of a registry to standard output, one JSON object a line."""
    with _opened(_settings(location, config)) as (opened, _):
        write_bytes(line.encode() + b"\n" for line in export_lines(opened))


@registry.command(
    "import", epilog=examples("sidecheck registry import tools.jsonl --registry postgresql://…")
)
@click.argument("file", type=FILE)
@_location_options
def import_(file: str, location: str | None, config: Path | None) -> None:
    """Register the tools of an exported FILE: each of its servers has these then, and no others.

    Nothing is registered if any line is damaged. Each server is one transaction; if one fails, as
    for a quota, those before it are done, and the import may be repeated. Servers that are not in
    the file stay as they are.
    """
    settings = _settings(location, config)
    try:
        with click.open_file(file, "rb") as lines:
            servers = read_export(lines)
    except OSError as error:
        raise click.UsageError(f"cannot read {printable(file)}: {error.strerror}") from None
    except DamagedExport as error:
        raise _UnusableError(f"{printable(file)}: {error}; nothing was imported") from None
    with _opened(settings, may_create=True) as (opened, _):
        _register_all(opened, servers)


def _register_all(opened: Registry, servers: Mapping[str, Sequence[Definition]]) -> None:
    changed = removed = 0
    for done, (server, definitions) in enumerate(servers.items()):
        try:
            result = opened.register(server, definitions, keep=frozenset())
        except (RegistryUnusable, RequestError) as error:
            message = error.message if isinstance(error, RequestError) else str(error)
            raise click.ClickException(
                f"server {printable(server)!r}: {printable(message)}; {done:,} of "
                f"{counted(len(servers), 'server')} imported before it"
            ) from None
        changed += sum(bound.action is not Action.UNCHANGED for bound in result.bound)
        removed += len(result.removed)
    tools = sum(map(len, servers.values()))
    write_output(
        f"{counted(tools, 'tool')} of {counted(len(servers), 'server')} imported: "
        f"{changed:,} changed, {removed:,} removed, revision {opened.revision:,}"
    )


def _settings(location: str | None, config: Path | None) -> Settings:
    try:
        settings = read_settings(config, registry=location)
    except UnusableSettingsError as error:
        raise _UnusableError(printable(str(error))) from None
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
def _opened(settings: Settings, *, may_create: bool = False) -> Iterator[tuple[Registry, Settings]]:
    location = settings.registry
    if isinstance(location, Path) and not may_create and not location.exists():
        raise click.UsageError(f"{printable(str(location))} does not exist")
    with _failures():
        opened = open_registry(
            location, settings.registry_quotas, settings.registry_history_seconds
        )
    with closing(opened):
        yield opened, settings


@contextmanager
def _failures() -> Iterator[None]:
    """Turn failures of the registry into messages."""
    try:
        yield
    except (RegistryInUse, RegistryUnusable) as error:
        raise click.ClickException(printable(str(error))) from None


def _shown(value: object) -> list[str]:
    """Return the lines that show *value*; none stands for nothing."""
    match value:
        case None | []:
            return ["none"]
        case list():
            return [printable(str(each)) for each in value]
        case int():
            return [f"{value:,}"]
        case _:
            return [printable(str(value))]
