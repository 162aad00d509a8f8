"""`sidecheck check`: check tool definitions offline by the rules of the protocol."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    examples,
    excerpts_option,
    read_documents,
    version_option,
)
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION

if TYPE_CHECKING:
    from sidecheck_server.cli.checks import Outcome
    from sidecheck_server.cli.findings import Source

__all__ = ["check"]


@click.command(
    epilog=examples(
        "sidecheck check tools.json",
        "sidecheck check tools.json --protocol-version 2026-07-28 --severity info",
        "sidecheck check tools/*.json --format sarif > sidecheck.sarif",
        "my-server --list-tools | sidecheck check -",
    )
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@version_option("[default: 2025-11-25]")
@click.option(
    "--severity",
    type=click.Choice(["error", "warning", "info"]),
    default="warning",
    show_default=True,
    help="The least grave problems that are shown; info is advice of providers of models.",
)
@document_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
)
@excerpts_option
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    protocol_version: str | None,
    severity: str,
    documents: tuple[tuple[str, str], ...],
    form: str,
    excerpts: bool | None,
) -> None:
    """Check the tool definitions of each FILE.

    A file has one definition, a list of them, or an answer to tools/list, with or
    without its JSON-RPC response; - reads standard input. Every rule for tools of the
    protocol version is applied, and what stands around the tools of an answer is
    checked too. Both schemas of every tool are compiled, under the limits that a
    server has by default.

    Exits with 0 if nothing has an error, so that all tools can be registered, with 1
    if something has one, and with 2 if the command is wrong or a file cannot be read.
    """
    if [*files, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    brought = read_documents(documents)
    sources, unread = _read(files)
    # Imported here, so that the other commands start without the engines.
    from sidecheck_server.cli.checks import check_sources  # noqa: PLC0415
    from sidecheck_server.core.limits import Limits  # noqa: PLC0415
    from sidecheck_server.core.types import Severity  # noqa: PLC0415

    version = protocol_version or DEFAULT_VERSION
    outcomes = check_sources(sources, brought, Limits(), version, Severity(severity))
    _write(form, version, sources, outcomes, unread, excerpts=excerpts)
    for said in unread:
        click.echo(f"Error: {said}", err=True)
    context.exit(2 if unread else 0 if all(one.ok for one in outcomes) else 1)


def _read(files: Sequence[str]) -> tuple[list["Source"], list[str]]:
    """Return the files that can be read, and what is wrong with the others."""
    from sidecheck_server.cli.findings import Source  # noqa: PLC0415

    sources, unread = [], []
    for name in dict.fromkeys(files):
        try:
            sources.append(Source(name, read_input(name)))
        except click.UsageError as error:
            if len(files) == 1:
                raise
            unread.append(error.message)
    return sources, unread


def _write(
    form: str,
    version: str,
    sources: Sequence["Source"],
    outcomes: Sequence["Outcome"],
    unread: Sequence[str],
    *,
    excerpts: bool | None,
) -> None:
    from sidecheck_server.cli.reports import (  # noqa: PLC0415
        Block,
        counted,
        in_json,
        tally,
        write_blocks,
    )
    from sidecheck_server.cli.rows import is_terminal  # noqa: PLC0415

    findings = [finding for outcome in outcomes for finding in outcome.findings]
    if form == "json":
        write_output(in_json([outcome.as_object() for outcome in outcomes]))
    elif form == "sarif":
        from sidecheck_server.cli.sarif import sarif_log  # noqa: PLC0415

        names = [source.name for source in sources]
        write_output(in_json(sarif_log(names, findings, unread, version)))
    else:
        tools = counted(sum(outcome.is_tool for outcome in outcomes), "tool")
        write_blocks(
            [Block(findings=outcome.findings) for outcome in outcomes],
            f"{tools}, {tally(findings)}",
            excerpts=is_terminal() if excerpts is None else excerpts,
        )
