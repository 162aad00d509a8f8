"""`sidecheck serve`: run the service."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidecheck_server.cli.options import FILE, examples

if TYPE_CHECKING:
    from sidecheck_server.services.registration import Registration
    from sidecheck_server.settings import Settings

__all__ = ["serve"]


@click.command(
    epilog=examples(
        "sidecheck serve",
        "sidecheck serve --tools git.json --tools weather.json",
        "sidecheck serve --unix-socket /run/sidecheck.sock --registry tools.db",
        "SIDECHECK_LIMITS__PAYLOAD_BYTES=65536 sidecheck serve --listen 0.0.0.0:50151",
    )
)
@click.option("--config", type=click.Path(path_type=Path), help="A settings file, in TOML.")
@click.option("--listen", metavar="HOST:PORT", help="Where to listen.  [default: 127.0.0.1:50151]")
@click.option("--unix-socket", type=click.Path(path_type=Path), help="A unix socket to listen on.")
@click.option("--unix-socket-mode", metavar="MODE", help="Its mode, octal.  [default: 660]")
@click.option(
    "--registry",
    type=click.Path(path_type=Path),
    help="The file that keeps registered tools.  [default: in memory]",
)
@click.option(
    "--tools",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="A file of tools to register at the start. May be repeated.",
)
@click.option(
    "--tools-server",
    multiple=True,
    metavar="NAME",
    help="The server of those tools: one for each --tools, in order.  [default: the file's stem]",
)
@click.option("--workers", type=int, help="Processes that compile schemas.  [default: 2]")
@click.option("--drain-seconds", type=float, help="Serve on so long when stopped.  [default: 0]")
@click.option("--grace-seconds", type=float, help="Time for calls under way.  [default: 10]")
@click.option(
    "--reflection/--no-reflection", default=None, help="Serve gRPC reflection.  [default: yes]"
)
@click.option(
    "--inference/--no-inference",
    default=None,
    help="Infer tools from source text, never run.  [default: yes]",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What to log.  [default: info]",
)
@click.option(
    "--log-format",
    type=click.Choice(["auto", "json", "console"]),
    help="How to log; auto is console on a terminal and JSON elsewhere.  [default: auto]",
)
def serve(
    config: Path | None, tools: tuple[str, ...], tools_server: tuple[str, ...], **flags: Any
) -> None:
    """Run the service until SIGTERM or Ctrl-C.

    Every setting can also be given in the environment (SIDECHECK_LISTEN, ...) or in
    a TOML file. A flag comes before the environment, that before the file.
    """
    if tools_server and len(tools_server) != len(tools):
        raise click.UsageError("give --tools-server for each --tools or for none")
    names = tools_server or ("",) * len(tools)
    if tools:
        flags["tools"] = [
            {"file": file, "server": name} for file, name in zip(tools, names, strict=True)
        ]
    # Read here, so that the other commands start without pydantic and gRPC.
    from sidecheck_server.cli.preload import read_preload  # noqa: PLC0415
    from sidecheck_server.settings import UnusableSettingsError, read_settings  # noqa: PLC0415

    try:
        settings = read_settings(config, **flags)
    except UnusableSettingsError as error:
        raise click.UsageError(str(error)) from None
    import asyncio  # noqa: PLC0415

    asyncio.run(_serve(settings, read_preload(settings.tools, settings.limits)))


async def _serve(settings: "Settings", preload: "Sequence[Registration]") -> None:
    import asyncio  # noqa: PLC0415
    import gc  # noqa: PLC0415
    import signal  # noqa: PLC0415

    from sidecheck_server.app import running_service  # noqa: PLC0415
    from sidecheck_server.log import configure_log  # noqa: PLC0415
    from sidecheck_server.registry import RegistryInUse, RegistryUnusable  # noqa: PLC0415
    from sidecheck_server.rpc.sockets import AddressInUseError  # noqa: PLC0415

    configure_log(settings)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        async with running_service(settings, preload):
            # What is there by now stays: to walk it again each time that the garbage of
            # requests is looked for would hold all of them for a tenth of a second.
            gc.freeze()
            await stop.wait()
    except (AddressInUseError, RegistryInUse, RegistryUnusable) as error:
        raise click.ClickException(str(error)) from None
