"""`sidecheck proxy`: validate what passes between an MCP client and a server."""

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click
from sidecheck import Client, OnUnavailable, Severity

from sidecheck_server.app import running_client
from sidecheck_server.cli.options import examples
from sidecheck_server.cli.rows import printable
from sidecheck_server.log import LOG_FLUSH_SECONDS, configure_log
from sidecheck_server.log_writer import LogWriter
from sidecheck_server.proxy.pins import LockFileError, PinnedTools, open_pins
from sidecheck_server.proxy.pipes import open_reader, open_writer
from sidecheck_server.proxy.policies import Pinning, Policies, Policy, Repairs
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.stdio import ServerNotStartedError, StdioProxy, start_server
from sidecheck_server.proxy.transcript import Transcript
from sidecheck_server.settings import UnusableSettingsError, read_settings
from sidecheck_server.workers import WorkerStartError

__all__ = ["proxy"]

_POLICY = click.Choice([policy.value for policy in Policy])
_ENVELOPE_BYTES = 1 << 20
"""Room in a request of the API for what is beside a message: the definition of a tool."""

_NOT_STARTED = 127
"""Exit code of shells for a command that cannot be run."""


@dataclass(frozen=True, slots=True)
class _Options:
    command: tuple[str, ...]
    policies: Policies
    pins: PinnedTools
    service: str | None
    on_unavailable: OnUnavailable
    report: BinaryIO | None
    record: BinaryIO | None
    show_values: bool
    min_severity: str
    max_message_bytes: int


@click.command(
    epilog=examples(
        "sidecheck proxy -- npx -y @modelcontextprotocol/server-everything",
        "sidecheck proxy --arguments enforce --repair json-strings -- uvx mcp-server-git",
        "sidecheck proxy --tools enforce --pins first-use -- python server.py",
        "sidecheck proxy --record session.jsonl -- python server.py",
    ),
)
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
@click.option("--arguments", type=_POLICY, default="audit", help="Arguments of tool calls.")
@click.option("--results", type=_POLICY, default="audit", help="Results of tool calls.")
@click.option("--messages", type=_POLICY, default="audit", help="Everything else in messages.")
@click.option(
    "--tools", type=_POLICY, default="audit", help="Definitions of tools; enforce drops bad ones."
)
@click.option("--enforce", is_flag=True, help="Enforce all four.")
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
@click.option(
    "--on-unavailable",
    type=click.Choice(["raise", "allow", "deny"]),
    default="raise",
    show_default=True,
    help="With --service, for what it does not answer: an error, pass, or reject.",
)
@click.option(
    "--report", type=click.File("ab"), metavar="FILE", help="Append findings to FILE, in JSON."
)
@click.option(
    "--record",
    type=click.File("wb"),
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
def proxy(
    command: tuple[str, ...],
    arguments: str,
    results: str,
    messages: str,
    tools: str,
    enforce: bool,
    repair: str,
    pins: str,
    pins_file: Path,
    service: str | None,
    on_unavailable: OnUnavailable,
    report: BinaryIO | None,
    record: BinaryIO | None,
    show_values: bool,
    min_severity: str,
    max_message_bytes: int,
) -> None:
    """Start the MCP server COMMAND, relay its messages, and validate what passes.

    Put it before the command of a server in the configuration of a client. What is valid passes
    byte for byte. Each policy is enforce, audit (the default: report only) or off; what is
    enforced is rejected as the specification says. Findings go to standard error.

    Exits with the exit code of COMMAND, or with 127 if it cannot be run.
    """
    named = {"arguments": arguments, "results": results, "messages": messages, "tools": tools}
    policies = {name: Policy.ENFORCE if enforce else Policy(value) for name, value in named.items()}
    try:
        pinned = open_pins(Pinning(pins), pins_file)
    except LockFileError as error:
        raise click.UsageError(printable(str(error))) from None
    options = _Options(
        command,
        Policies(**policies, repair=Repairs(repair)),
        pinned,
        service,
        on_unavailable,
        report,
        record,
        show_values,
        min_severity,
        max_message_bytes,
    )
    raise SystemExit(asyncio.run(_run(options)))


async def _run(options: _Options) -> int:
    # The log's descriptor does not block; the server's standard error is left as it is.
    stderr = os.dup(2)
    try:
        settings = read_settings(
            workers=1,
            log_level="warning",
            limits={
                "payload_bytes": options.max_message_bytes,
                "message_bytes": options.max_message_bytes + _ENVELOPE_BYTES,
            },
        )
    except UnusableSettingsError as error:
        raise click.UsageError(printable(str(error))) from None
    log = configure_log(settings)
    report = _report(options, log)
    try:
        async with AsyncExitStack() as stack:
            server = await start_server(options.command, stderr)
            os.close(stderr)
            client = await stack.enter_async_context(
                running_client(settings)
                if options.service is None
                else Client(options.service, on_unavailable=options.on_unavailable)
            )
            make_session = partial(ProxySession, client, options.policies, options.pins, report)
            transcript = None if options.record is None else Transcript(options.record)
            stdio = StdioProxy(
                server,
                await open_reader(0),
                await open_writer(1),
                make_session,
                report,
                transcript,
                options.max_message_bytes,
            )
            return await stdio.run()
    except ServerNotStartedError as error:
        log.write(f"Error: {printable(str(error))}\n")
        return _NOT_STARTED
    except (WorkerStartError, LockFileError) as error:
        raise click.ClickException(printable(str(error))) from None
    except ValueError as error:
        raise click.UsageError(printable(str(error))) from None
    finally:
        log.write(f"sidecheck proxy: {report.summary()}\n")
        log.flush(LOG_FLUSH_SECONDS)


def _report(options: _Options, log: LogWriter) -> Report:
    def write_json(line: str) -> None:
        assert options.report is not None
        options.report.write(f"{line}\n".encode())
        options.report.flush()

    return Report(
        lambda line: log.write(f"{line}\n"),
        None if options.report is None else write_json,
        show_values=options.show_values,
        minimum=Severity(options.min_severity),
    )
