"""The page of commands, from the help of the command line itself."""

import click
from sidecheck_server.cli import sidecheck

from docs.generate.markdown import NOTICE

__all__ = ["commands_page"]

_WIDTH = 100
_BEGINNING = """\
# Commands

{notice}
Every command prints its help with `--help`. Exit codes are 0 if there are no findings, 1 if there
are, and 2 if the command is invalid, a file cannot be read, or no server answers.
"""


def commands_page() -> str:
    """Return the page."""
    parts = [_BEGINNING.format(notice=NOTICE)]
    parts += [
        f"## {path}\n\n```text\n{text.rstrip()}\n```\n" for path, text in _helps(sidecheck, None)
    ]
    return "\n".join(parts)


def _helps(command: click.Command, parent: click.Context | None) -> list[tuple[str, str]]:
    name = "sidecheck" if parent is None else command.name
    settings = {**command.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    context = click.Context(command, parent, name, color=False, **settings)
    helps = [(context.command_path, click.unstyle(command.get_help(context)))]
    if isinstance(command, click.Group):
        for subcommand_name in command.list_commands(context):
            # `get_command` may return a placeholder; `resolve_command` imports the command.
            _, subcommand, _ = command.resolve_command(context, [subcommand_name])
            if subcommand is not None and not subcommand.hidden:
                helps += _helps(subcommand, context)
    return helps
