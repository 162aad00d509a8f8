"""`sidecheck diff`: compare the tools of two files, or of a running server."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from sidecheck_server.cli.compared_tools import (
    ComparedFiles,
    compared_tools,
    is_registered,
    read_file,
    read_registered,
)
from sidecheck_server.cli.comparison_reports import (
    comparison_markdown,
    comparison_object,
    comparison_sarif,
    write_comparison,
)
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.in_process import run_in_process
from sidecheck_server.cli.options import (
    document_option,
    format_examples,
    read_documents,
    target_option,
    timeout_option,
)
from sidecheck_server.cli.reports import format_json
from sidecheck_server.cli.served_tools import ServerCommand, read_served, server_options
from sidecheck_server.cli.tls_options import tls_options
from sidecheck_server.config.addresses import ClientTls
from sidecheck_server.core.compat.changes import LEVELS, Level, Reading, SetComparison

if TYPE_CHECKING:
    from sidecheck import BlockingClient

__all__ = ["diff"]

_ANY, _NEVER = "any", "never"
_GATES = (Level.BREAKING, Level.UNDECIDED, Level.RISKY)


@click.command(
    cls=ServerCommand,
    epilog=format_examples(
        "sidecheck diff released.json tools.json",
        "sidecheck diff released.json tools.json --fail-on undecided",
        "sidecheck diff released.json tools.json --format markdown > comment.md",
        "my-server --list-tools | sidecheck diff released.json -",
        "sidecheck diff server:git tools.json --target sidecheck:50151",
        "sidecheck diff released.json -- python -m my_server",
        "sidecheck diff released.json --url https://mcp.example.com/mcp",
    ),
)
@click.argument("old")
@click.argument("new", required=False)
@server_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "markdown"]),
    default="text",
    show_default=True,
)
@click.option(
    "--fail-on",
    type=click.Choice([*(level.value for level in _GATES), _ANY, _NEVER]),
    default=Level.BREAKING.value,
    show_default=True,
    help="Level of changes, or a worse one, that exits with 1: breaking, undecided (neither "
    "proved nor refuted), risky; or any difference, or never.",
)
@click.option(
    "--reading",
    type=click.Choice([reading.value for reading in Reading]),
    default=Reading.ASSUME_CLOSED.value,
    show_default=True,
    help="Reading of object schemas with properties and without additionalProperties: as written "
    "(open, as in JSON Schema), or closed, as most authors intend.",
)
@document_option
@target_option
@timeout_option(30.0)
@tls_options("TARGET")
@click.pass_context
def diff(
    context: click.Context,
    old: str,
    new: str | None,
    url: str | None,
    headers: tuple[str, ...],
    server_timeout: float,
    form: str,
    fail_on: str,
    reading: str,
    documents: tuple[tuple[str, str], ...],
    target: str,
    timeout: float,
    tls: ClientTls | None,
) -> None:
    """Compare the tools in OLD with those in NEW; report changes that break callers.

    Each is a file, or server:NAME for the tools that are registered under NAME with the server
    at --target. NEW may also be a running MCP server: a COMMAND, which is started, or the
    server at --url. A file contains one definition, a list of definitions, or a tools/list result,
    with or without its JSON-RPC response; - reads standard input. Tools are compared by name.
    An input schema must accept all that it accepted, and an output schema must promise
    no less than it promised: this is proved, or refuted by a payload, or undecided.

    Exits with 0 if no change reaches the level of --fail-on, with 1 if one does, and with 2
    if the command is wrong or a file cannot be read. By default, undecided changes exit
    with 0; --fail-on undecided accepts only proved changes. The guide on comparing explains
    the levels.
    """
    served = read_served(context, url, headers, server_timeout)
    if (new is None) == (served is None):
        raise click.UsageError("give NEW, --url, or the command of a server after --")
    if [old, new, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    referenced_documents = read_documents(documents)
    with ExitStack() as stack:
        client: BlockingClient | None = None
        names = [old, *([] if new is None else [new])]
        if any(map(is_registered, names)):
            # Imported late, because the client is large and files do not need it.
            from sidecheck_server.cli.connection import connect  # noqa: PLC0415

            client = stack.enter_context(connect(target, timeout, tls))
        sides = [
            read_registered(client, name)
            if client is not None and is_registered(name)
            else read_file(name, referenced_documents)
            for name in names
        ]
    if served is not None:
        sides.append(compared_tools(served.source, referenced_documents))
    old_tools, new_tools = sides
    comparison = run_in_process(
        lambda services: services.comparer.compare(old_tools.tools, new_tools.tools)
    )
    chosen_reading = Reading(reading)
    files = ComparedFiles(old_tools, new_tools)
    if form == "json":
        write_output(format_json(comparison_object(comparison, chosen_reading)))
    elif form == "sarif":
        write_output(format_json(comparison_sarif(comparison, files, chosen_reading)))
    elif form == "markdown":
        write_output(comparison_markdown(comparison, chosen_reading))
    else:
        write_comparison(comparison, files, chosen_reading)
    context.exit(1 if _fails(comparison, chosen_reading, fail_on) else 0)


def _fails(comparison: SetComparison, reading: Reading, fail_on: str) -> bool:
    if fail_on == _NEVER:
        return False
    if fail_on == _ANY:
        return comparison.differs
    return LEVELS.index(comparison.level(reading)) <= LEVELS.index(Level(fail_on))
