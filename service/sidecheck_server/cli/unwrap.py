"""`sidecheck unwrap`: take the proxy out of the configuration of an MCP client."""

from pathlib import Path

import click

from sidecheck_server.cli.commented_json import CommentedJson, Edit
from sidecheck_server.cli.options import format_examples
from sidecheck_server.cli.replaced_files import backup_path, replace_file
from sidecheck_server.cli.rows import escape
from sidecheck_server.cli.wrap import (
    config_argument,
    dry_run_option,
    edit_config,
    print_difference,
    server_option,
)
from sidecheck_server.cli.wrapped_servers import Server, unwrap_server

__all__ = ["unwrap"]


@click.command(
    epilog=format_examples(
        "sidecheck unwrap .mcp.json", "sidecheck unwrap .vscode/mcp.json --server git"
    )
)
@config_argument
@server_option
@dry_run_option
def unwrap(file: str, names: tuple[str, ...], dry_run: bool) -> None:
    """Take `sidecheck proxy` out of FILE, the configuration of an MCP client.

    Each server that `sidecheck wrap` put behind the proxy gets its former entry back; all else in
    the file stays as it is. If the file then equals FILE.before-sidecheck, that is removed.

    Exits with 2 if the command is wrong, or the file cannot be rewritten; it is unchanged then.
    """
    messages = []

    def edit(document: CommentedJson, server: Server) -> list[Edit]:
        if not server.is_wrapped:
            messages.append(f"{server.name}: is not behind the proxy")
            return []
        edits = unwrap_server(document, server)
        messages.append(f"{server.name}: no longer runs behind the proxy")
        return edits

    before, after = edit_config(file, names, edit)
    if dry_run:
        print_difference(file, before, after)
    elif before != after:
        path, backup = Path(file).resolve(), backup_path(file)
        replace_file(path, after, mode_of=path)
        if backup.is_file() and backup.read_bytes() == after:
            backup.unlink()
    for message in messages:
        click.echo(escape(message), err=True)
