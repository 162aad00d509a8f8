"""`sidecheck serve`: run the service."""

import asyncio
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn, get_type_hints

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.operating_system import HAS_SERVICE
from sidecheck_server.cli.options import FILE, format_examples
from sidecheck_server.cli.rows import escape
from sidecheck_server.cli.tool_files import list_or_exit
from sidecheck_server.config.input_files import UnusableFileError, check_file
from sidecheck_server.config.settings import (
    Settings,
    ToolsFile,
    UnusableSettingsError,
    read_settings,
)
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, VERSIONS
from sidecheck_server.observability.log import configure_log
from sidecheck_server.observability.log_output import LOG_FLUSH_SECONDS
from sidecheck_server.registry import RegistryInUse, RegistryUnusable
from sidecheck_server.rpc.shutdown import HURRIED_GRACE_SECONDS
from sidecheck_server.rpc.sockets import AddressInUseError
from sidecheck_server.server.components import loop_factory
from sidecheck_server.server.envoy.launcher import launch_configuration
from sidecheck_server.server.processes.launcher import ProcessStartError
from sidecheck_server.server.service import running_service
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.workers import WorkerStartError

__all__ = [
    "StopSignals",
    "describe_fields",
    "end_process",
    "serve",
    "setting_groups",
    "write_settings",
]

_DUPLICATE_SECONDS = 0.01
"""Seconds after the first signal in which a second signal counts as the same request.

Supervisors such as timeout(1) signal a process, and then its process group.
"""


class StopSignals:
    """Handles SIGTERM, SIGINT and SIGHUP in the running event loop.

    The first signal requests a stop. A second SIGTERM or SIGINT shortens its grace period.
    *end* ends the process, *max_seconds* after the first signal or *hurried_seconds* after the
    second, if the stop takes longer.
    """

    # Decision 0051: timers outside of the event loop bound the stop of the process.

    def __init__(
        self, max_seconds: float, hurried_seconds: float, end: Callable[[], NoReturn]
    ) -> None:
        """Install the handlers; a timer thread calls *end*."""
        self._max_seconds = max_seconds
        self._hurried_seconds = hurried_seconds
        self._end = end
        self._first_signal_time = 0.0
        self._stopped = asyncio.Event()
        self._hurry: Callable[[], None] = _ignore
        self._is_hurried = False
        self._forced_end = threading.Timer(0, end)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop_or_hurry)
        # nohup ignores SIGHUP, so that a process outlives its terminal.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGHUP, self._stop)

    async def wait(self) -> None:
        """Wait for the first signal."""
        await self._stopped.wait()

    def on_hurry(self, hurry: Callable[[], None]) -> None:
        """Call *hurry* when a second signal arrives."""
        self._hurry = hurry

    def _stop_or_hurry(self) -> None:
        if not self._stopped.is_set():
            self._stop()
            return
        elapsed = time.monotonic() - self._first_signal_time
        if elapsed > _DUPLICATE_SECONDS and not self._is_hurried:
            self._is_hurried = True
            self._hurry()
            self._end_within(min(self._hurried_seconds, self._max_seconds - elapsed))

    def _stop(self) -> None:
        if not self._stopped.is_set():
            self._first_signal_time = time.monotonic()
            self._stopped.set()
            self._end_within(self._max_seconds)

    def _end_within(self, seconds: float) -> None:
        self._forced_end.cancel()
        self._forced_end = threading.Timer(seconds, self._end)
        self._forced_end.daemon = True
        self._forced_end.start()


def _ignore() -> None:
    """Do nothing: the server is still starting."""


def end_process() -> NoReturn:
    """End the process and its workers at once, with exit code 0.

    An orderly exit would wait for threads, connections and workers that do not end.
    """
    try:
        for worker in multiprocessing.active_children():
            worker.kill()
    finally:
        os._exit(0)


def setting_groups() -> Iterator[tuple[str, Any]]:
    """Yield name and default of each setting that is a group of settings."""
    for name, field in Settings.model_fields.items():
        if is_dataclass(field.default):
            yield name, field.default


def describe_fields(group: type[Any]) -> Mapping[str, str]:
    """Return the descriptions of the fields of a *group* of settings, keyed by name."""
    hints = get_type_hints(group, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in fields(group)}


def write_settings(formatter: click.HelpFormatter, flags: Collection[str]) -> None:
    """Write help sections for settings that are not among *flags*, by group."""
    groups = dict(setting_groups())
    settings = [
        _entry(name, field.default, field.description or "")
        for name, field in Settings.model_fields.items()
        if name not in flags and name not in groups
    ]
    with formatter.section("Settings without a flag, by their variables"):
        formatter.write_dl(settings)
    for group, defaults in groups.items():
        entries = [
            _entry(f"{group}__{name}", getattr(defaults, name), description)
            for name, description in describe_fields(type(defaults)).items()
        ]
        with formatter.section(f"{group.replace('_', ' ').capitalize()}, by their variables"):
            formatter.write_dl(entries)


def _entry(name: str, default: Any, description: str) -> tuple[str, str]:
    # The help has the first sentence only; the documentation has the whole description.
    sentence = description.partition(". ")[0].rstrip(".")
    return f"SIDECHECK_{name.upper()}", f"{sentence}.  [default: {_format_default(default)}]"


def _format_default(default: Any) -> str:
    if default == ():
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:,}" if isinstance(default, int) else str(default)


_STOP_SECONDS = 1.6
"""Maximum seconds of a stop beyond the drain and grace periods, before the process is ended."""

_FORCED_FLUSH_SECONDS = 0.2
"""Maximum seconds to flush the log before the process is ended."""


_MAX_TOOLS_FILE_BYTES = 64 << 20
"""Maximum size of a file of tools: the maximum number of a registration, at 6 KB each."""


class _UnusableError(click.ClickException):
    """A setting, or a file that it names, is unusable."""

    exit_code = 2


class _ServeCommand(click.Command):
    """Command whose help also lists the settings without an option."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and the other settings."""
        super().format_options(ctx, formatter)
        write_settings(formatter, {str(option.name) for option in self.params})


@click.command(
    cls=_ServeCommand,
    epilog=format_examples(
        "sidecheck serve",
        "sidecheck serve --tools git.json --tools weather.json",
        "sidecheck serve --admin-listen 127.0.0.1:8080",
        "sidecheck serve --unix-socket /run/sidecheck.sock --registry tools.db",
        "sidecheck serve --processes 4",
        "sidecheck serve --registry postgresql://sidecheck@db.internal/sidecheck",
        "sidecheck serve --listen 0.0.0.0:50151 --tls-cert tls.crt --tls-key tls.key",
        "SIDECHECK_LIMITS__PAYLOAD_BYTES=65536 sidecheck serve",
    ),
)
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, in TOML.")
@click.option(
    "--listen", metavar="HOST:PORT", help="Address to listen on.  [default: 127.0.0.1:50151]"
)
@click.option(
    "--unix-socket", type=click.Path(path_type=Path), help="Path of a unix socket to listen on."
)
@click.option(
    "--unix-socket-mode", metavar="MODE", help="Mode of the socket, octal.  [default: 660]"
)
@click.option(
    "--admin-listen",
    metavar="HOST:PORT",
    help="Address of the page, the API over HTTP, probes and metrics.  [default: none]",
)
@click.option(
    "--admin-open/--no-admin-open",
    default=None,
    help="Serve the page and the API also at an admin address beyond loopback, to every client "
    "that reaches it.  [default: no]",
)
@click.option(
    "--tls-cert",
    "tls_certificate",
    type=click.Path(path_type=Path),
    help="Certificate of the TCP address, in PEM; without it, plain text. The variable is "
    "SIDECHECK_TLS_CERTIFICATE.",
)
@click.option(
    "--tls-key", type=click.Path(path_type=Path), help="Private key of the certificate, in PEM."
)
@click.option(
    "--tls-client-ca",
    type=click.Path(path_type=Path),
    help="Certificate authorities of clients, in PEM; clients must then have certificates.",
)
@click.option(
    "--tokens-file",
    type=click.Path(path_type=Path),
    help="File of the tokens that callers must have, in TOML.  [default: anybody may call]",
)
@click.option(
    "--registry",
    metavar="FILE|URI",
    help="File that stores registered tools, or postgresql://…, which servers may share.  "
    "[default: in memory]",
)
@click.option(
    "--tools",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="File of tools to register at the start. May be repeated.",
)
@click.option(
    "--tools-server",
    multiple=True,
    metavar="NAME",
    help="Server namespace of a --tools file: one per file, in order.  [default: the file's stem]",
)
@click.option(
    "--protocol-version",
    type=click.Choice(VERSIONS),
    help=f"MCP protocol version of requests that name none.  [default: {DEFAULT_VERSION}]",
)
@click.option(
    "--server",
    type=click.Choice(["grpc", "envoy"]),
    help="What serves the API; envoy needs the extra `envoy` of the package.  [default: grpc]",
)
@click.option(
    "--print-envoy-config",
    is_flag=True,
    help="Print the configuration with which Envoy would serve, as JSON, and exit.",
)
@click.option("--processes", type=int, help="Number of processes that serve.  [default: 1]")
@click.option("--workers", type=int, help="Number of worker processes.  [default: 2]")
@click.option(
    "--drain-seconds", type=float, help="Time to keep serving after a stop signal.  [default: 0]"
)
@click.option(
    "--grace-seconds", type=float, help="Time for running calls to finish.  [default: 10]"
)
@click.option(
    "--reflection/--no-reflection", default=None, help="Serve gRPC reflection.  [default: yes]"
)
@click.option(
    "--inference/--no-inference",
    default=None,
    help="Serve inference from source text, which is never run.  [default: yes]",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="Minimum level to log.  [default: info]",
)
@click.option(
    "--log-format",
    type=click.Choice(["auto", "json", "console"]),
    help="Format of the log; auto is console on a terminal and JSON elsewhere.  [default: auto]",
)
def serve(
    *,
    config: Path | None,
    tools: tuple[str, ...],
    tools_server: tuple[str, ...],
    print_envoy_config: bool,
    **flags: Any,
) -> None:
    """Run the service until SIGTERM, SIGHUP or Ctrl-C.

    All settings can also be given in the environment or in a TOML file. Flags take
    precedence over the environment, and that over the file. The variable of a flag is
    SIDECHECK_ and its name, unless its help names another: --unix-socket is
    SIDECHECK_UNIX_SOCKET. A list in a variable is separated by commas, or written as JSON.
    """
    if not HAS_SERVICE:
        raise click.ClickException(
            "the service runs on POSIX systems only, such as Linux: run it there, in WSL or in a"
            " container, and give its host:port to the proxy, the commands and the clients"
        )
    if tools_server and len(tools_server) != len(tools):
        raise click.UsageError("give --tools-server for each --tools or for none")
    names = tools_server or ("",) * len(tools)
    if tools:
        flags["tools"] = [
            {"file": file, "server": name} for file, name in zip(tools, names, strict=True)
        ]
    try:
        settings = read_settings(config, **flags)
        factory = loop_factory(settings.event_loop)
    except UnusableSettingsError as error:
        raise _UnusableError(escape(str(error))) from None
    if print_envoy_config:
        _print_envoy_config(settings)
        return
    preload = _read_registrations(settings.tools, settings.limits)
    if settings.has_serving_processes:
        # Decision 0070: this process serves no calls; it only coordinates the serving processes.
        factory = asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_serve(settings, preload))


def _print_envoy_config(settings: Settings) -> None:
    """Print the configuration of Envoy.

    Raises:
        _UnusableError: Envoy is not installed.
    """
    try:
        configuration = launch_configuration(settings, 1, Path("FOLDER"))
    except UnusableSettingsError as error:
        raise _UnusableError(escape(str(error))) from None
    click.echo(json.dumps(configuration, indent=2))


async def _serve(settings: Settings, preload: Sequence[Registration]) -> None:
    log = configure_log(settings)

    def end() -> NoReturn:
        log.flush(_FORCED_FLUSH_SECONDS)
        end_process()

    grace = settings.drain_seconds + settings.grace_seconds
    signals = StopSignals(grace + _STOP_SECONDS, HURRIED_GRACE_SECONDS + _STOP_SECONDS, end)
    try:
        is_abandoned = await _run_until_stopped(settings, preload, signals)
    except (AddressInUseError, RegistryInUse, RegistryUnusable, WorkerStartError) as error:
        raise click.ClickException(str(error)) from None
    except ProcessStartError as error:
        raise click.ClickException(f"a serving process cannot start: {error}") from None
    except UnusableSettingsError as error:
        raise _UnusableError(escape(str(error))) from None
    except RequestError as error:
        raise click.ClickException(f"the service cannot start: {error.message}") from None
    finally:
        log.flush(LOG_FLUSH_SECONDS)
    if is_abandoned:
        end()


async def _run_until_stopped(
    settings: Settings, preload: Sequence[Registration], signals: StopSignals
) -> bool:
    """Run the service until a signal; return whether connections fail to end."""
    async with AsyncExitStack() as stack:
        starting = asyncio.create_task(
            stack.enter_async_context(running_service(settings, preload))
        )
        stopped = asyncio.create_task(signals.wait())
        await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            return False
        server = starting.result()
        signals.on_hurry(server.hurry)
        await stopped
    return server.is_abandoned


def _read_registrations(files: Iterable[ToolsFile], limits: Limits) -> tuple[Registration, ...]:
    """Return the registration of each of *files*.

    Raises:
        click.ClickException: a file cannot be read or has no tools; exit code 2.
    """
    return tuple(_registration(file, limits) for file in files)


def _registration(tools: ToolsFile, limits: Limits) -> Registration:
    name = escape(str(tools.file))
    server = tools.server or tools.file.stem
    if not server.isprintable():
        raise _UnusableError(f"{name}: not usable as a server name; give --tools-server")
    entries = list_or_exit(name, _read_tools(tools.file), limits)
    if len(entries) > limits.batch_items:
        raise _UnusableError(
            f"{name}: {len(entries):,} tools, more than the limit of {limits.batch_items:,} "
            "(batch_items)"
        )
    return Registration(server, tuple(InlineTool(tool.json) for tool in entries))


def _read_tools(file: Path) -> bytes:
    """Return the content of *file*, or of standard input for ``-``."""
    try:
        with suppress(FileNotFoundError):  # read_input reports it
            check_file(file, _MAX_TOOLS_FILE_BYTES)
        return read_input(str(file))
    except UnusableFileError as error:
        raise _UnusableError(f"{escape(str(file))} {error}") from None
    except click.UsageError as error:
        raise _UnusableError(escape(error.message)) from None
