"""Command line `sidecheck`, with one module per command."""

from importlib import import_module

import click

from sidecheck_server import __version__
from sidecheck_server.cli.options import format_examples

__all__ = ["sidecheck"]

_COMMANDS = {
    "adapt": "Adapt tool definitions to a protocol version, offline.",
    "check": "Check tool definitions offline.",
    "completion": "Print the completion script of a shell.",
    "convert": "Convert tools to the format of a model API, offline.",
    "convert-call": "Convert a model's call to the params of a tools/call, offline.",
    "diff": "Check whether changed tools break their callers, offline.",
    "healthcheck": "Check whether a server is serving.",
    "infer": "Infer tool definitions from Python source text, offline.",
    "info": "Show the version and limits of a server.",
    "lint-messages": "Check the messages of transcripts and logs offline.",
    "proxy": "Validate the messages between an MCP client and a server.",
    "registry": "Migrate, inspect, export and import a registry.",
    "rules": "List the rules of the protocol.",
    "serve": "Run the service.",
    "token": "Create tokens for the callers of a server.",
    "tools": "Manage the registered tools of a server.",
    "unwrap": "Take the proxy out of the configuration of a client.",
    "validate": "Validate payloads offline.",
    "wrap": "Put the servers of a client behind the proxy.",
}
"""Short help by command. The module of a command has its name, with underscores."""


class _LazyGroup(click.Group):
    """Group that imports the module of a command only when the command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (overrides)
        return list(_COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002  (overrides)
        cmd_name: str,
    ) -> click.Command | None:
        summary = _COMMANDS.get(cmd_name)
        return None if summary is None else click.Command(cmd_name, short_help=summary)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, placeholder, rest = super().resolve_command(ctx, args)
        if placeholder is None or placeholder.name is None:
            return name, placeholder, rest
        return name, load_command(placeholder.name), rest


def load_command(name: str) -> click.Command:
    """Import and return the command *name*."""
    function = name.replace("-", "_")
    command = getattr(import_module(f"sidecheck_server.cli.{function}"), function)
    assert isinstance(command, click.Command)
    return command


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=format_examples(
        "sidecheck check tools.json",
        "sidecheck diff released.json tools.json",
        "sidecheck lint-messages session.jsonl",
        "sidecheck validate --tools tools.json --tool git_log call.json",
        "sidecheck convert --to anthropic tools.json",
        "sidecheck infer server.py > tools.json",
        "sidecheck serve --tools tools.json",
        "sidecheck proxy -- npx -y @modelcontextprotocol/server-everything",
    ),
)
@click.version_option(__version__, prog_name="sidecheck")
def sidecheck() -> None:
    """Validate MCP tool definitions, payloads and messages, and convert tools."""
