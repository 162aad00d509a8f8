"""`sidecheck proxy`: validate what passes between an MCP client and a server."""

import asyncio
import os
import stat
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from io import FileIO
from pathlib import Path
from typing import Any, Literal, get_type_hints
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from sidecheck_server.cli.options import examples
from sidecheck_server.cli.rows import printable
from sidecheck_server.cli.tls_options import tls_options
from sidecheck_server.config.addresses import Address, ClientTls
from sidecheck_server.config.policies import Pinning, Policies, Policy, Repairs
from sidecheck_server.proxy.http_limits import HttpAddress, HttpLimits
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.pins import LockFileError, open_pins
from sidecheck_server.proxy.server_process import ServerNotStartedError, start_server

__all__ = [
    "HTTP_LIMIT_PARAMETERS",
    "http_limit_options",
    "proxy",
]

_COUNTS = {"connections", "peer_connections", "bytes_in_flight"}
_BYTES = "max_bytes_in_flight"

_PARAMETERS = {
    field.name: f"max_{field.name}" if field.name in _COUNTS else field.name
    for field in fields(HttpLimits)
}
"""Parameters of the command by the names of the limits."""

HTTP_LIMIT_PARAMETERS = frozenset(_PARAMETERS.values())


def http_limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give *command*, which has ``max_message_bytes``, the options; it gets *http_limits*."""

    @wraps(command)
    def run(*args: Any, max_message_bytes: int, **options: Any) -> Any:
        values = {name: options.pop(parameter) for name, parameter in _PARAMETERS.items()}
        needed = 2 * max_message_bytes
        if values["bytes_in_flight"] is None:
            values["bytes_in_flight"] = max(HttpLimits().bytes_in_flight, needed)
        elif values["bytes_in_flight"] < needed:
            raise click.UsageError(
                f"--max-bytes-in-flight must be at least {needed}, twice --max-message-bytes"
            )
        limits = HttpLimits(**values)
        return command(*args, max_message_bytes=max_message_bytes, http_limits=limits, **options)

    decorated: Callable[..., Any] = run
    for name in reversed(_PARAMETERS):
        decorated = _option(name)(decorated)
    return decorated


def _option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    description, (least, most) = get_type_hints(HttpLimits, include_extras=True)[name].__metadata__
    parameter = _PARAMETERS[name]
    default = getattr(HttpLimits(), name)
    help_ = f"With --upstream: {description[0].lower()}{description[1:]}"
    if parameter == _BYTES:
        default, help_ = None, f"{help_}  [default: {default}, or as many as that]"
    return click.option(
        f"--{parameter.replace('_', '-')}",
        type=click.IntRange(least, most)
        if isinstance(least, int)
        else click.FloatRange(least, most),
        default=default,
        show_default=default is not None,
        help=help_,
    )


_POLICY = click.Choice([policy.value for policy in Policy])


class _OutputFile(click.ParamType[FileIO]):
    """A file that is opened at once and written without a buffer, by its owner alone.

    A pipe is not waited for, neither for who reads it nor until it is read.
    """

    name = "file"

    def __init__(self, mode: Literal["a", "w"]) -> None:
        self._mode = mode

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> FileIO:
        """Open the file called *value*."""
        if value == "-":
            self.fail("standard output is for messages; name a file", param, ctx)
        try:
            file = FileIO(value, self._mode, opener=_open_privately)
        except OSError as error:
            self.fail(printable(f"{value}: {error.strerror}"), param, ctx)
        if ctx is not None:
            ctx.call_on_close(file.close)
        return file


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK, 0o600)


_NEEDED = {
    "listen": "upstream",
    "origins": "upstream",
    "paths": "upstream",
    "certificate": "upstream",
    "private_key": "upstream",
    "on_unavailable": "service",
    "pins_file": "pins",
    **dict.fromkeys(sorted(HTTP_LIMIT_PARAMETERS), "upstream"),
}
"""Parameters that only have an effect with another."""

_NOT_STARTED = 127
"""Exit code of shells for a command that cannot be run."""


@click.command(
    epilog=examples(
        "sidecheck proxy -- npx -y @modelcontextprotocol/server-everything",
        "sidecheck proxy --arguments enforce --repair json-strings -- uvx mcp-server-git",
        "sidecheck proxy --tools enforce --pins first-use -- python server.py",
        "sidecheck proxy --record session.jsonl -- python server.py",
        "sidecheck proxy --upstream http://127.0.0.1:3000/mcp --listen 127.0.0.1:8808",
    ),
)
@click.argument("command", nargs=-1, metavar="[-- COMMAND...]")
@click.option(
    "--upstream", metavar="URL", help="Server over Streamable HTTP, in place of a command."
)
@click.option(
    "--listen",
    default="127.0.0.1:8808",
    show_default=True,
    metavar="HOST:PORT",
    help="With --upstream, address to listen on.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="With --upstream, origin of pages that may call. May be repeated.",
)
@click.option(
    "--allow-path",
    "paths",
    multiple=True,
    metavar="PATH",
    help="With --upstream, other path that passes, with what is below it, although something is "
    "enforced. Those of OAuth always do. May be repeated.",
)
@click.option(
    "--certificate", type=click.Path(path_type=Path), help="With --upstream, for TLS, in PEM."
)
@click.option("--private-key", type=click.Path(path_type=Path), help="Its key, in PEM.")
@click.option("--arguments", type=_POLICY, help="Arguments of tool calls.")
@click.option("--results", type=_POLICY, help="Results of tool calls.")
@click.option("--messages", type=_POLICY, help="Everything else in messages.")
@click.option("--tools", type=_POLICY, help="Definitions of tools; enforce drops bad ones.")
@click.option("--enforce", is_flag=True, help="Enforce those of the four that are not given.")
@click.option(
    "--repair",
    type=click.Choice([repairs.value for repairs in Repairs]),
    default="off",
    help="Repair arguments before they are forwarded; each level includes those before it.",
)
@click.option(
    "--pins",
    type=click.Choice([pinning.value for pinning in Pinning]),
    default="off",
    help="Drop tools that are not as in the lock file; first-use writes it if there is none.",
)
@click.option(
    "--pins-file",
    type=click.Path(path_type=Path),
    default=Path("sidecheck-pins.json"),
    show_default=True,
    metavar="FILE",
    help="The lock file.",
)
@click.option(
    "--service", metavar="TARGET", help="Address of a running Sidecheck.  [default: in process]"
)
@tls_options("--service")
@click.option(
    "--on-unavailable",
    type=click.Choice(["error", "allow", "deny"]),
    default="error",
    show_default=True,
    help="With --service, for what it does not answer: an error, pass, or reject.",
)
@click.option(
    "--report", type=_OutputFile("a"), metavar="FILE", help="Append findings to FILE, in JSON."
)
@click.option(
    "--record",
    type=_OutputFile("w"),
    metavar="FILE",
    help="Write all messages to FILE, for `sidecheck lint-messages`.",
)
@click.option("--show-values", is_flag=True, help="Show values of messages in findings.")
@click.option(
    "--min-severity",
    type=click.Choice(["error", "warning", "info"]),
    default="warning",
    show_default=True,
    help="Minimum severity of findings.",
)
@click.option(
    "--max-message-bytes",
    type=click.IntRange(1 << 10, 1 << 30),
    default=16 << 20,
    show_default=True,
    help="Largest message.",
)
@http_limit_options
def proxy(
    command: tuple[str, ...],
    upstream: str | None,
    listen: str,
    origins: tuple[str, ...],
    paths: tuple[str, ...],
    certificate: Path | None,
    private_key: Path | None,
    arguments: str | None,
    results: str | None,
    messages: str | None,
    tools: str | None,
    enforce: bool,
    repair: str,
    pins: str,
    pins_file: Path,
    service: str | None,
    tls: ClientTls | None,
    on_unavailable: Literal["error", "allow", "deny"],
    report: FileIO | None,
    record: FileIO | None,
    show_values: bool,
    min_severity: str,
    max_message_bytes: int,
    http_limits: HttpLimits,
) -> None:
    """Relay the messages of an MCP server, and validate what passes.

    Put it before the COMMAND of a server in the configuration of a client, or give the URL of one
    that is reached over HTTP. What is valid passes byte for byte. Each policy is enforce, audit
    (the default: report only) or off; what is enforced is rejected as the specification says.
    Findings go to standard error.

    Exits with the exit code of COMMAND, or with 127 if it cannot be run.
    """
    if bool(command) == (upstream is not None):
        raise click.UsageError("give either -- COMMAND or --upstream")
    _check_combination(click.get_current_context())
    named = {"arguments": arguments, "results": results, "messages": messages, "tools": tools}
    default = Policy.ENFORCE if enforce else Policy.AUDIT
    policies = {name: default if value is None else Policy(value) for name, value in named.items()}
    try:
        pinned = open_pins(Pinning(pins), pins_file)
    except LockFileError as error:
        raise click.UsageError(printable(str(error))) from None
    options = ProxyOptions(
        Policies(**policies, repair=Repairs(repair)),
        pinned,
        service,
        tls,
        on_unavailable,
        report,
        record,
        show_values,
        min_severity,
        max_message_bytes,
        origins,
        paths,
        http_limits,
    )
    if upstream is not None:
        address = _address(listen, certificate, private_key)
        raise SystemExit(asyncio.run(_serve(_upstream(upstream), address, options)))
    raise SystemExit(asyncio.run(_start(command, options)))


def _check_combination(context: click.Context) -> None:
    """Reject options that would have no effect, or one file for two purposes.

    Raises:
        click.UsageError: there are such options.
    """
    params = context.params
    for option in context.command.params:
        name = option.name or ""
        needed = _NEEDED.get(name)
        is_given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if is_given and needed is not None and params[needed] in {None, "off"}:
            raise click.UsageError(f"{option.opts[0]} has no effect without --{needed}")
    if params["repair"] != "off" and params["arguments"] == "off":
        raise click.UsageError("--repair has no effect with --arguments off")
    report, record = params["report"], params["record"]
    if report is not None and record is not None and _is_same_file(report, record):
        raise click.UsageError("--report and --record name the same file")


def _is_same_file(one: FileIO, other: FileIO) -> bool:
    is_regular = stat.S_ISREG(os.fstat(one.fileno()).st_mode)
    return is_regular and os.path.sameopenfile(one.fileno(), other.fileno())


async def _start(command: tuple[str, ...], options: ProxyOptions) -> int:
    # The log takes over descriptor 2, which is left to the server as it is.
    stderr = os.dup(2)
    try:
        server = await start_server(command, stderr)
    except ServerNotStartedError as error:
        click.echo(f"Error: {printable(str(error))}", err=True)
        return _NOT_STARTED
    finally:
        os.close(stderr)
    # Imported while the server starts: clients wait for both.
    from sidecheck_server.cli.proxy_run import run_proxy  # noqa: PLC0415

    return await run_proxy(server, options)


def _upstream(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise click.UsageError(f"--upstream {printable(url)}: expected an URL of http or https")
    return url


def _address(listen: str, certificate: Path | None, private_key: Path | None) -> HttpAddress:
    try:
        address = Address.parse(listen)
    except ValueError as error:
        raise click.UsageError(f"--listen {printable(listen)}: {error}") from None
    if (certificate is None) != (private_key is None):
        raise click.UsageError("--certificate and --private-key belong together")
    return HttpAddress(address, certificate, private_key)


async def _serve(upstream: str, address: HttpAddress, options: ProxyOptions) -> int:
    from sidecheck_server.cli.proxy_run import run_http_proxy  # noqa: PLC0415

    return await run_http_proxy(upstream, address, options)
