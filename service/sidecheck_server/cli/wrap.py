"""`sidecheck wrap`: put the servers of an MCP client behind the proxy."""

import difflib
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from sidecheck_server.cli.commented_json import CommentedJson, Edit, apply_edits
from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.options import format_examples
from sidecheck_server.cli.replaced_files import backup_path, replace_file
from sidecheck_server.cli.rows import escape
from sidecheck_server.cli.wrapped_servers import ConfigError, Server, find_servers, wrap_server

__all__ = [
    "config_argument",
    "dry_run_option",
    "edit_config",
    "find_command",
    "print_difference",
    "server_option",
    "wrap",
]

_DESKTOP_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
"""PATH of programs that the desktop starts, on macOS; longer elsewhere."""

_UNSAFE = re.compile(r"[^\w.-]")
_OF_REMOTE_SERVERS = frozenset({"upstream", "headers", "listen"})

config_argument = click.argument("file", type=click.Path(exists=True, dir_okay=False))
server_option = click.option(
    "--server", "names", multiple=True, metavar="NAME", help="Only this server. May be repeated."
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print the difference, and write nothing."
)


@click.command(
    epilog=format_examples(
        "sidecheck wrap .mcp.json",
        "sidecheck wrap .vscode/mcp.json --server git -- --enforce --pins first-use",
        "sidecheck wrap --dry-run ~/.cursor/mcp.json -- --report '/tmp/{server}.jsonl'",
    )
)
@config_argument
@click.argument("options", nargs=-1, metavar="[-- OPTIONS OF THE PROXY...]")
@server_option
@dry_run_option
def wrap(file: str, options: tuple[str, ...], names: tuple[str, ...], dry_run: bool) -> None:
    """Put `sidecheck proxy` before each server in FILE, the configuration of an MCP client.

    FILE has the servers in "mcpServers", as for Claude Desktop, Claude Code and Cursor, or in
    "servers", as for VS Code; it may have comments. A server with a command runs behind the
    proxy, and so does one with a URL, which becomes a command. OPTIONS are those of `sidecheck
    proxy`; {server} in them stands for the name of the server. A server that is behind the proxy
    already stays as it is.

    The former content is kept in FILE.before-sidecheck. `sidecheck unwrap` takes the proxy out
    again, and leaves later changes of the file as they are.

    Exits with 2 if the command is wrong, or the file cannot be rewritten; it is unchanged then.
    """
    _check_options(options)
    command = find_command()
    messages = []

    def edit(document: CommentedJson, server: Server) -> list[Edit]:
        if server.is_wrapped:
            hint = "; unwrap it to change its options" if options else ""
            messages.append(f"{server.name}: is behind the proxy already{hint}")
            return []
        named = [option.replace("{server}", _UNSAFE.sub("_", server.name)) for option in options]
        edits = wrap_server(document, server, command, named)
        messages.append(f"{server.name}: now runs behind the proxy")
        if "command" not in server.entry and not server.entry.get("headers"):
            messages[-1] += "; the client cannot sign in to it (OAuth): unwrap it if it has to"
        return edits

    before, after = edit_config(file, names, edit)
    if dry_run:
        print_difference(file, before, after)
    elif before != after:
        path, backup = Path(file).resolve(), backup_path(file)
        if _is_unwrapped(before) or not backup.exists():
            replace_file(backup, before, mode_of=path)
            messages.append(f"the former content is in {backup}")
        replace_file(path, after, mode_of=path)
    if os.sep in command[0] and before != after:
        messages.append(
            f"the command is {command[0]}, because programs of the desktop may not find sidecheck"
        )
    for message in messages:
        click.echo(escape(message), err=True)


def edit_config(
    file: str, names: Sequence[str], edit: Callable[[CommentedJson, Server], list[Edit]]
) -> tuple[bytes, bytes]:
    """Return the content of *file*, and that after the edits that *edit* returns for each server.

    With *names*, only these servers are edited.

    Raises:
        click.UsageError: the file cannot be read or rewritten.
    """
    text = read_input(file)
    try:
        document = CommentedJson(text)
        servers = {server.name: server for server in find_servers(document)}
        missing = [name for name in names if name not in servers]
        if missing:
            raise click.UsageError(f'{escape(file)} has no server "{escape(missing[0])}"')
        chosen = [server for name, server in servers.items() if not names or name in names]
        return text, apply_edits(
            text, [item for server in chosen for item in edit(document, server)]
        )
    except (ConfigError, ValueError) as error:
        raise click.UsageError(f"cannot rewrite {escape(file)}: {escape(str(error))}") from None


def print_difference(file: str, before: bytes, after: bytes) -> None:
    """Print the difference of two contents of *file*, if there is one."""
    old, new = (part.decode("utf-8", "replace").splitlines() for part in (before, after))
    difference = "\n".join(difflib.unified_diff(old, new, file, file, lineterm=""))
    if difference:
        write_output(difference)


def _is_unwrapped(text: bytes) -> bool:
    return not any(server.is_wrapped for server in find_servers(CommentedJson(text)))


def _check_options(options: Sequence[str]) -> None:
    """Check that *options* are options of the proxy, for servers of both kinds.

    Raises:
        click.UsageError: they are not.
    """
    from sidecheck_server.cli.proxy import proxy  # noqa: PLC0415  (imports asyncio)

    # Values are not converted, which would open files.
    context = click.Context(proxy, info_name="sidecheck proxy")
    values, rest, _ = proxy.make_parser(context).parse_args([*options, "--"])
    # Older releases of click have another value than 8.3 for an argument that is not given.
    has_command = isinstance(values.get("command"), tuple) and bool(values["command"])
    if has_command or rest:
        raise click.UsageError("after --, give options of `sidecheck proxy` only, not a command")
    for name in sorted(_OF_REMOTE_SERVERS & values.keys()):
        option = "header" if name == "headers" else name
        raise click.UsageError(
            f"--{option} depends on the server; the file has its URL and headers"
        )


def find_command() -> list[str]:
    """Return the command of `sidecheck`: its name, or a path if clients may not find that."""
    running = Path(sys.argv[0])
    if running.stem != "sidecheck" or not running.is_file():
        running = Path(shutil.which("sidecheck") or Path(sys.executable).with_name("sidecheck"))
    if not running.is_file():
        return [sys.executable, "-m", "sidecheck_server"]
    found = shutil.which("sidecheck", path=None if os.name == "nt" else _DESKTOP_PATH)
    if found is not None and Path(found).resolve() == running.resolve():
        return ["sidecheck"]
    return [str(running.absolute())]
