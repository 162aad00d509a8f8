"""`sidecheck lint-messages`: check the messages of a transcript offline."""

from typing import TYPE_CHECKING

import click

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.options import (
    FILE,
    examples,
    excerpts_option,
    form_option,
    version_option,
)

if TYPE_CHECKING:
    from sidecheck_server.cli.linting import LineOutcome

__all__ = ["lint_messages"]


@click.command(
    "lint-messages",
    epilog=examples(
        "sidecheck lint-messages session.jsonl",
        "sidecheck lint-messages session.jsonl --protocol-version 2025-11-25 --format json",
        "my-proxy --dump | sidecheck lint-messages -",
    ),
)
@click.argument("file", type=FILE)
@version_option("[default: the one that the messages agree on]")
@form_option
@excerpts_option
@click.pass_context
def lint_messages(
    context: click.Context,
    file: str,
    protocol_version: str | None,
    form: str,
    excerpts: bool | None,
) -> None:
    """Check each message of FILE, a transcript; - reads standard input.

    Each line is JSON: a message (or a batch), or an object with "message", which
    is one, and perhaps "direction", who sent it ("client", or "client-to-server";
    "server", or "server-to-client"), and "answers", for a response the method of
    the request that it answers. Other members of the object are left alone, and
    so are blank lines.

    The lines are one session, in its order: responses are matched with their
    requests, as far as directions or methods tell them apart. Pointers lead into
    the line.

    With --format json the output is a list with an object for each line that is not
    blank: "line" (from 1), "ok" (no error is among them), and "violations", each as
    in a verdict, with the "line" and "column" of its place.

    Exits with 0 if no message has an error, with 1 if one has, and with 2 if the
    command is wrong or the file cannot be read.
    """
    text = read_input(file)
    # Imported here, so that the other commands start without the engines.
    from sidecheck_server.cli.linting import lint  # noqa: PLC0415
    from sidecheck_server.core.limits import Limits  # noqa: PLC0415

    outcomes = lint(file, text, protocol_version, Limits())
    _write(form, outcomes, excerpts=excerpts)
    context.exit(0 if all(one.ok for one in outcomes) else 1)


def _write(form: str, outcomes: list["LineOutcome"], *, excerpts: bool | None) -> None:
    from sidecheck_server.cli.reports import (  # noqa: PLC0415
        Block,
        counted,
        in_json,
        tally,
        write_blocks,
    )
    from sidecheck_server.cli.rows import is_terminal  # noqa: PLC0415

    if form == "json":
        write_output(in_json([one.as_object() for one in outcomes]))
        return
    findings = [finding for one in outcomes for finding in one.findings]
    write_blocks(
        [Block(findings=one.findings, note=_MORE if one.truncated else "") for one in outcomes],
        f"{counted(len(outcomes), 'message')}, {tally(findings)}",
        excerpts=is_terminal() if excerpts is None else excerpts,
    )


_MORE = "... there may be more"
