"""`sidecheck tools register`: register the tools of files with a running server."""

from typing import TYPE_CHECKING, Literal

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    examples,
    excerpts_option,
    form_option,
    read_documents,
    target_option,
    timeout_option,
)

if TYPE_CHECKING:
    from sidecheck import ChangePolicy

__all__ = ["register"]


@click.command(
    epilog=examples(
        "sidecheck tools register tools.json --server git",
        "sidecheck tools register *.json --server git --replace --on-change refuse",
        "my-server --list-tools | sidecheck tools register - --server mine",
    )
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--server", required=True, metavar="NAME", help="The namespace of the tools.")
@click.option("--replace", is_flag=True, help="Remove the server's other tools.")
@click.option("--validate-only", is_flag=True, help="Tell what would happen; register nothing.")
@click.option(
    "--on-change",
    type=click.Choice(["accept", "report", "refuse"]),
    default="accept",
    show_default=True,
    help="What becomes of a tool that is registered with another definition; report warns.",
)
@document_option
@target_option
@timeout_option(30.0)
@form_option
@excerpts_option
@click.pass_context
def register(
    context: click.Context,
    files: tuple[str, ...],
    server: str,
    replace: bool,
    validate_only: bool,
    change_policy: "ChangePolicy",
    documents: tuple[tuple[str, str], ...],
    target: str,
    timeout: float,
    form: Literal["text", "json"],
    excerpts: bool | None,
) -> None:
    """Register the tools of each FILE for one server.

    The file - is standard input. Each tool is judged by itself: those without an
    error are registered. Exits with 1 if one is refused. A file that lists no tools
    ends the command with 2, and nothing is registered.
    """
    if [*files, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    brought = read_documents(documents)
    read = [(name, read_input(name)) for name in files]
    from sidecheck_server.cli.asking import asking  # noqa: PLC0415  (waits for gRPC)
    from sidecheck_server.cli.registrations import (  # noqa: PLC0415
        definitions,
        register_tools,
        write_registration,
    )

    given = definitions(read)
    with asking(target, timeout) as client:
        done = register_tools(
            client,
            server,
            given,
            brought,
            replace=replace,
            validate_only=validate_only,
            change_policy=change_policy,
            timeout=timeout,
        )
    write_registration(form, done, excerpts=excerpts)
    context.exit(1 if any(one.action == "refused" for one in done.outcomes) else 0)
