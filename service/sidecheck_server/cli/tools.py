"""`sidecheck tools`: the tools that a running server knows."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import examples, form_option, target_option, timeout_option
from sidecheck_server.cli.register import register

if TYPE_CHECKING:
    from sidecheck import Tool

__all__ = ["tools"]

_DIGEST = len("sha256:") + 12
"""How much of a digest tells it from others at a glance."""


@click.group(
    epilog=examples(
        "sidecheck tools register tools.json --server git",
        "sidecheck tools list --server git",
        "sidecheck tools get git git_log --format json",
        "sidecheck tools delete git git_log",
    )
)
def tools() -> None:
    """Ask a running server about its tools.

    Every command exits with 0 if all went well, with 1 if the server refused
    something or does not know it, and with 2 if the command is wrong or no server
    answers.
    """


@tools.command(
    "list",
    epilog=examples("sidecheck tools list", "sidecheck tools list --server git --format json"),
)
@click.option("--server", metavar="NAME", help="The server whose tools to list.  [default: all]")
@target_option
@timeout_option(2.0)
@form_option
def list_tools(server: str | None, target: str, timeout: float, form: str) -> None:
    """List the registered tools."""
    from sidecheck_server.cli.asking import asking  # noqa: PLC0415  (waits for gRPC)
    from sidecheck_server.cli.reports import counted, in_json  # noqa: PLC0415
    from sidecheck_server.cli.rows import Row, write_rows  # noqa: PLC0415
    from sidecheck_server.cli.tables import table  # noqa: PLC0415

    with asking(target, timeout) as client:
        found = list(client.list(server))
    if form == "json":
        write_output(in_json([_facts(tool) for tool in found]))
        return
    lines = [
        (tool.server, tool.name, str(tool.revision), tool.definition_digest[:_DIGEST])
        for tool in found
    ]
    heading = [("SERVER", "NAME", "REVISION", "DEFINITION")] if lines else []
    servers = counted(len({tool.server for tool in found}), "server")
    summary = Row(((f"{counted(len(found), 'tool')} of {servers}", "bold"),))
    write_rows([*table([*heading, *lines], ("", "bold", "", "cyan")), summary])


@tools.command(
    "get",
    epilog=examples(
        "sidecheck tools get git git_log",
        "sidecheck tools get git git_log --format json | jq .definition",
    ),
)
@click.argument("server")
@click.argument("name")
@target_option
@timeout_option(2.0)
@form_option
def get_tool(server: str, name: str, target: str, timeout: float, form: str) -> None:
    """Show the tool NAME of SERVER: its digests, then its definition."""
    from sidecheck_server.cli.asking import asking  # noqa: PLC0415  (waits for gRPC)
    from sidecheck_server.cli.reports import in_json  # noqa: PLC0415
    from sidecheck_server.cli.rows import Row, printable, write_rows  # noqa: PLC0415
    from sidecheck_server.cli.tables import facts  # noqa: PLC0415

    with asking(target, timeout) as client:
        tool = client.get(server, name)
    definition = json.loads(tool.json)
    if form == "json":
        brought = [{"uri": one.uri, "json": _text(one.json)} for one in tool.documents]
        write_output(in_json({**_facts(tool), "definition": definition, "documents": brought}))
        return
    told = [(key.replace("_", " "), [str(value)]) for key, value in _facts(tool).items() if value]
    if tool.documents:
        told.append(("documents", [one.uri for one in tool.documents]))
    text = json.dumps(definition, indent=2, ensure_ascii=False)
    lines = [Row(((printable(line), ""),), wraps=False) for line in text.splitlines()]
    write_rows([*facts(told), Row(), *lines])


@tools.command("delete", epilog=examples("sidecheck tools delete git git_log git_diff"))
@click.argument("server")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@target_option
@timeout_option(2.0)
@form_option
@click.pass_context
def delete_tools(
    context: click.Context,
    server: str,
    names: tuple[str, ...],
    target: str,
    timeout: float,
    form: str,
) -> None:
    """Delete the tools of SERVER that are called NAME.

    Exits with 1 if one of them is not registered; the others are deleted.
    """
    from sidecheck_server.cli.asking import asking  # noqa: PLC0415  (waits for gRPC)
    from sidecheck_server.cli.reports import in_json  # noqa: PLC0415
    from sidecheck_server.cli.rows import write_rows  # noqa: PLC0415
    from sidecheck_server.cli.tables import table  # noqa: PLC0415

    with asking(target, timeout) as client:
        done = client.delete(server, names)
    if form == "json":
        write_output(in_json(asdict(done)))
    else:
        lines = [("deleted", name) for name in done.deleted]
        lines += [("unknown", name) for name in done.unknown]
        write_rows(table(lines, ("bold", "")))
    context.exit(1 if done.unknown else 0)


tools.add_command(register)


def _facts(tool: "Tool") -> dict[str, Any]:
    return {
        "server": tool.server,
        "name": tool.name,
        "definition_digest": tool.definition_digest,
        "input_schema_digest": tool.input_schema_digest,
        "output_schema_digest": tool.output_schema_digest,
        "revision": tool.revision,
    }


def _text(document: Any) -> str:
    return document.decode() if isinstance(document, bytes) else str(document)
