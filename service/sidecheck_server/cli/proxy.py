"""`sidecheck proxy`: validate the messages between an MCP client and a server."""

import asyncio
import os
import stat
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Literal

import click
from click.core import ParameterSource

from sidecheck_server.cli.options import format_examples
from sidecheck_server.cli.proxy_headers import upstream_headers
from sidecheck_server.cli.proxy_limits import HTTP_LIMIT_PARAMETERS, http_limit_options
from sidecheck_server.cli.proxy_values import (
    OutputFile,
    check_hosts,
    check_public_url,
    is_http_url,
)
from sidecheck_server.cli.rows import escape
from sidecheck_server.cli.tls_options import tls_options
from sidecheck_server.config.addresses import Address, ClientTls
from sidecheck_server.config.exemptions import Exemptions
from sidecheck_server.config.policies import Pinning, Policies, Policy, Repairs
from sidecheck_server.core.portability.target import TOOL_TARGETS
from sidecheck_server.proxy.http_limits import HttpAddress, HttpLimits
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.rulings.pins import LockFileError, open_pins
from sidecheck_server.proxy.stdio.server_process import ServerNotStartedError, start_server

__all__ = ["proxy"]

_POLICY = click.Choice([policy.value for policy in Policy])

_PREREQUISITES = {
    "listen": "upstream",
    "headers": "upstream",
    "reconnect": "upstream",
    "origins": "listen",
    "paths": "listen",
    "certificate": "listen",
    "private_key": "listen",
    "hosts": "listen",
    "public_url": "listen",
    "keep_alive": "listen",
    "on_unavailable": "service",
    "pins_file": "pins",
    **dict.fromkeys(sorted(HTTP_LIMIT_PARAMETERS), "listen"),
}
"""Parameters that have an effect only together with another parameter."""

_NOT_STARTED = 127
"""Exit code that shells use for a command that cannot be run."""


@click.command(
    epilog=format_examples(
        "sidecheck proxy -- npx -y @modelcontextprotocol/server-everything",
        "sidecheck proxy --arguments enforce --repair json-strings -- uvx mcp-server-git",
        "sidecheck proxy --tools enforce --pins first-use -- python server.py",
        "sidecheck proxy --record session.jsonl -- python server.py",
        "sidecheck proxy --upstream https://tools.example.com/mcp",
        "sidecheck proxy --upstream http://127.0.0.1:3000/mcp --listen 127.0.0.1:8808",
    ),
)
@click.argument("command", nargs=-1, metavar="[-- COMMAND...]")
@click.option("--upstream", metavar="URL", help="Server over HTTP, in place of a command.")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="With --upstream, address to listen on.  [default: serve standard input and output]",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="With --upstream and without --listen, header of each request. May be repeated. Give a "
    "token by the environment variable SIDECHECK_UPSTREAM_TOKEN, because others can see the "
    "arguments of a process.",
)
@click.option(
    "--reconnect",
    is_flag=True,
    help="With --upstream, open a new session in place of one that the server has ended, for "
    "clients that cannot.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="With --listen, origin of pages that may call, * for all. May be repeated.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    callback=check_hosts,
    help="With --listen, name of this proxy in the Host header of callers, with or without a "
    "port; * for all, behind a gateway. May be repeated.",
)
@click.option(
    "--public-url",
    metavar="URL",
    callback=check_public_url,
    help="With --listen, URL under which clients call the proxy; it becomes the resource in the "
    "server's authorization metadata.",
)
@click.option(
    "--keep-alive",
    type=click.FloatRange(0, 86_400, min_open=True),
    metavar="SECONDS",
    help="With --listen, send a comment in a stream of events that is silent for SECONDS.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, 86_400, min_open=True),
    metavar="SECONDS",
    help="Answer a request with an error, and cancel it, if the server does not respond within "
    "SECONDS.",
)
@click.option(
    "--restart",
    is_flag=True,
    help="With a command, start the server again for the next message after it has ended.",
)
@click.option(
    "--allow-path",
    "paths",
    multiple=True,
    metavar="PATH",
    help="With --listen, further path that passes under enforcement, with the paths below it. "
    "OAuth paths always pass. May be repeated.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    help="With --listen, certificate for TLS, in PEM.",
)
@click.option(
    "--private-key",
    type=click.Path(path_type=Path),
    help="With --listen, private key of the certificate, in PEM.",
)
@click.option("--arguments", type=_POLICY, help="Policy for arguments of tool calls.")
@click.option("--results", type=_POLICY, help="Policy for results of tool calls.")
@click.option("--messages", type=_POLICY, help="Policy for everything else in messages.")
@click.option(
    "--tools", type=_POLICY, help="Policy for definitions of tools; enforce drops invalid ones."
)
@click.option(
    "--enforce", is_flag=True, help="Set each of these four policies that is not given to enforce."
)
@click.option(
    "--allow",
    multiple=True,
    metavar="EXEMPTION",
    help="Let pass under enforcement, and report as allowed: the findings of a rule (CODE), the "
    "calls, results and definition of a tool (tool:NAME), or the messages of a method "
    "(method:NAME). May be repeated.",
)
@click.option(
    "--assert-formats",
    is_flag=True,
    help="Assert `format` in schemas of arguments and results, such as date-time.",
)
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
    help="Drop tools that differ from the lock file; first-use writes the file if it is missing.",
)
@click.option(
    "--pins-file",
    type=click.Path(path_type=Path),
    default=Path("sidecheck-pins.json"),
    show_default=True,
    metavar="FILE",
    help="Path of the lock file.",
)
@click.option(
    "--portable",
    is_flag=True,
    help="Rewrite the listed tools so that clients and model APIs take them as they are, and "
    "convert their calls back; over stdio.",
)
@click.option(
    "--for",
    "targets",
    type=click.Choice(sorted(target.value for target in TOOL_TARGETS)),
    multiple=True,
    metavar="TARGET",
    help="With --portable, what the tools are for, as in `sidecheck check --for`. May be "
    "repeated.  [default: all but openai-strict]",
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
    help="With --service, treatment of messages while it is unavailable: error, pass, or reject.",
)
@click.option(
    "--report", type=OutputFile("a"), metavar="FILE", help="Append findings to FILE, in JSON."
)
@click.option(
    "--record",
    type=OutputFile("w"),
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
    help="Maximum size of a message.",
)
@click.option(
    "--finish-seconds",
    type=click.FloatRange(0, 3_600),
    default=10.0,
    show_default=True,
    help="Over stdio, maximum time for the validation of messages that have passed, after the end "
    "of the connection.",
)
@http_limit_options
def proxy(
    command: tuple[str, ...],
    upstream: str | None,
    listen: str | None,
    headers: tuple[str, ...],
    reconnect: bool,
    origins: tuple[str, ...],
    hosts: tuple[str, ...],
    public_url: str | None,
    keep_alive: float | None,
    timeout: float | None,
    restart: bool,
    paths: tuple[str, ...],
    certificate: Path | None,
    private_key: Path | None,
    arguments: str | None,
    results: str | None,
    messages: str | None,
    tools: str | None,
    enforce: bool,
    allow: tuple[str, ...],
    assert_formats: bool,
    repair: str,
    pins: str,
    pins_file: Path,
    portable: bool,
    targets: tuple[str, ...],
    service: str | None,
    tls: ClientTls | None,
    on_unavailable: Literal["error", "allow", "deny"],
    report: FileIO | None,
    record: FileIO | None,
    show_values: bool,
    min_severity: str,
    max_message_bytes: int,
    finish_seconds: float,
    http_limits: HttpLimits,
) -> None:
    """Relay and validate the messages between an MCP client and a server.

    Put this command before the COMMAND of a server in the configuration of a client, or give the
    URL of a server over HTTP in place of it. With --listen, clients connect over HTTP too. Valid
    messages pass byte for byte. Each policy is enforce, audit (the default: report only) or off;
    under enforce, invalid content is rejected as the specification requires. Findings go to
    standard error.

    Exits with the exit code of COMMAND, or with 127 if it cannot be run.
    """
    if bool(command) == (upstream is not None):
        raise click.UsageError("give either -- COMMAND or --upstream")
    _check_combination(click.get_current_context())
    values = {"arguments": arguments, "results": results, "messages": messages, "tools": tools}
    default = Policy.ENFORCE if enforce else Policy.AUDIT
    policies = {name: default if value is None else Policy(value) for name, value in values.items()}
    try:
        exemptions = Exemptions.parse(allow)
    except ValueError as error:
        raise click.UsageError(escape(f"--allow: {error}")) from None
    try:
        pinned_tools = open_pins(Pinning(pins), pins_file)
    except LockFileError as error:
        raise click.UsageError(escape(str(error))) from None
    options = ProxyOptions(
        Policies(
            **policies,
            repair=Repairs(repair),
            assert_formats=assert_formats,
            allow=exemptions,
        ),
        pinned_tools,
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
        (targets or _default_targets()) if portable else (),
        finish_seconds,
        reconnect,
        restart,
        hosts,
        public_url or "",
        keep_alive,
        timeout,
    )
    if upstream is not None:
        url = _check_upstream(upstream)
        if listen is None:
            raise SystemExit(asyncio.run(_connect(url, upstream_headers(headers), options)))
        address = _parse_address(listen, certificate, private_key)
        raise SystemExit(asyncio.run(_serve(url, address, options)))
    raise SystemExit(asyncio.run(_start(command, options)))


def _check_combination(context: click.Context) -> None:
    """Reject options that have no effect, and one file for both outputs.

    Raises:
        click.UsageError: there are such options.
    """
    params = context.params
    for option in context.command.params:
        name = option.name or ""
        prerequisite = _PREREQUISITES.get(name)
        is_set = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if is_set and prerequisite is not None and params[prerequisite] in {None, "off"}:
            raise click.UsageError(f"{option.opts[0]} has no effect without --{prerequisite}")
    if params["targets"] and not params["portable"]:
        raise click.UsageError("--for has no effect without --portable")
    if params["portable"] and params["listen"] is not None:
        # Headers repeat names and arguments of a call (2026-07-28, basic/transports).
        raise click.UsageError("--portable works over stdio only, not with --listen")
    if params["restart"] and params["upstream"] is not None:
        raise click.UsageError("--restart works with -- COMMAND only, not with --upstream")
    if params["headers"] and params["listen"] is not None:
        # Every caller of the address would act with these credentials.
        raise click.UsageError("--header works over stdio only, not with --listen")
    if params["assert_formats"] and params["arguments"] == params["results"] == "off":
        raise click.UsageError(
            "--assert-formats has no effect with --arguments off and --results off"
        )
    if params["repair"] != "off" and params["arguments"] == "off":
        raise click.UsageError("--repair has no effect with --arguments off")
    report, record = params["report"], params["record"]
    if report is not None and record is not None and _is_same_file(report, record):
        raise click.UsageError("--report and --record name the same file")


def _is_same_file(first: FileIO, second: FileIO) -> bool:
    is_regular = stat.S_ISREG(os.fstat(first.fileno()).st_mode)
    return is_regular and os.path.sameopenfile(first.fileno(), second.fileno())


async def _start(command: tuple[str, ...], options: ProxyOptions) -> int:
    # The log replaces descriptor 2; the server gets a copy of the original.
    stderr = os.dup(2)
    try:
        server = await start_server(command, stderr)
        # Imported while the server starts, to shorten the start of the proxy.
        from sidecheck_server.cli.proxy_run import run_proxy  # noqa: PLC0415

        start_again = partial(start_server, command, stderr, has_threads=True)
        return await run_proxy(server, options, start_again)
    except ServerNotStartedError as error:
        click.echo(f"Error: {escape(str(error))}", err=True)
        return _NOT_STARTED
    finally:
        os.close(stderr)


def _default_targets() -> tuple[str, ...]:
    # Imported late, because it imports the facts about all model APIs.
    from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS  # noqa: PLC0415

    return tuple(sorted(DEFAULT_TARGETS))


def _check_upstream(url: str) -> str:
    if not is_http_url(url):
        raise click.UsageError(f"--upstream {escape(url)}: expected an URL of http or https")
    return url


def _parse_address(listen: str, certificate: Path | None, private_key: Path | None) -> HttpAddress:
    try:
        address = Address.parse(listen)
    except ValueError as error:
        raise click.UsageError(f"--listen {escape(listen)}: {error}") from None
    if (certificate is None) != (private_key is None):
        raise click.UsageError("--certificate and --private-key belong together")
    return HttpAddress(address, certificate, private_key)


async def _connect(url: str, headers: list[tuple[bytes, bytes]], options: ProxyOptions) -> int:
    from sidecheck_server.cli.remote_proxy_run import run_remote_proxy  # noqa: PLC0415

    if os.isatty(0):
        note = "serves its server over standard input and output; for HTTP, give --listen HOST:PORT"
        click.echo(f"sidecheck proxy: {note}", err=True)
    return await run_remote_proxy(url, headers, options)


async def _serve(upstream: str, address: HttpAddress, options: ProxyOptions) -> int:
    from sidecheck_server.cli.http_proxy_run import run_http_proxy  # noqa: PLC0415

    return await run_http_proxy(upstream, address, options)
