"""The command `sidecheck`: one file a subcommand."""

import click

from sidecheck_server import __version__
from sidecheck_server.cli.check import check
from sidecheck_server.cli.completion import completion
from sidecheck_server.cli.convert import convert
from sidecheck_server.cli.convert_call import restore
from sidecheck_server.cli.healthcheck import healthcheck
from sidecheck_server.cli.infer import infer
from sidecheck_server.cli.info import info
from sidecheck_server.cli.lint_messages import lint_messages
from sidecheck_server.cli.options import examples
from sidecheck_server.cli.rules import rules
from sidecheck_server.cli.serve import serve
from sidecheck_server.cli.tools import tools
from sidecheck_server.cli.validate import validate

__all__ = ["sidecheck"]


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "sidecheck check tools.json",
        "sidecheck lint-messages session.jsonl",
        "sidecheck validate --tools tools.json --tool git_log call.json",
        "sidecheck convert --to anthropic tools.json",
        "sidecheck infer server.py",
        "sidecheck serve --tools tools.json",
    ),
)
@click.version_option(__version__, prog_name="sidecheck")
def sidecheck() -> None:
    """Judge the tool definitions, payloads and messages of MCP, and convert tools."""


for _command in (
    check,
    completion,
    convert,
    healthcheck,
    infer,
    info,
    lint_messages,
    restore,
    rules,
    serve,
    tools,
    validate,
):
    sidecheck.add_command(_command)
