"""The command `sidecheck`: one file a subcommand."""

import click

from sidecheck_server import __version__
from sidecheck_server.cli.check import check
from sidecheck_server.cli.healthcheck import healthcheck
from sidecheck_server.cli.serve import serve
from sidecheck_server.cli.validate import validate

__all__ = ["sidecheck"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sidecheck")
def sidecheck() -> None:
    """Judge MCP tool definitions and payloads."""


sidecheck.add_command(check)
sidecheck.add_command(serve)
sidecheck.add_command(validate)
sidecheck.add_command(healthcheck)
