"""`sidecheck tools`: manage the registered tools of a running server."""

from dataclasses import asdict
from typing import Any

import click
import msgspec
from sidecheck import Tool

from sidecheck_server.cli.connection import connect
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import form_option, format_examples, target_option, timeout_option
from sidecheck_server.cli.register import register
from sidecheck_server.cli.reports import format_count, format_json
from sidecheck_server.cli.rows import Row, escape, fact_rows, table, write_rows
from sidecheck_server.cli.tls_options import tls_options
from sidecheck_server.config.addresses import ClientTls
from sidecheck_server.core.payload import encode_json, read_json

__all__ = ["tools"]

_DIGEST_WIDTH = len("sha256:") + 12
"""Number of characters of a digest in a table."""


@click.group(
    epilog=format_examples(
        "sidecheck tools register tools.json --server git",
        "sidecheck tools list --server git",
        "sidecheck tools get git git_log --format json",
        "sidecheck tools delete git git_log",
    )
)
def tools() -> None:
    """Manage the registered tools of a running server.

    Every command exits with 0 on success, with 1 if a tool was rejected or is unknown,
    and with 2 if the command is wrong or the server does not respond.
    """


@tools.command(
    "list",
    epilog=format_examples(
        "sidecheck tools list", "sidecheck tools list --server git --format json"
    ),
)
@click.option("--server", metavar="NAME", help="Server whose tools to list.  [default: all]")
@target_option
@timeout_option(2.0)
@tls_options("TARGET")
@form_option
def list_tools(
    server: str | None, target: str, timeout: float, tls: ClientTls | None, form: str
) -> None:
    """List the registered tools."""
    with connect(target, timeout, tls) as client:
        registered = list(client.list(server))
    if form == "json":
        write_output(format_json([_object(tool) for tool in registered]))
        return
    lines = [
        (tool.server, tool.name, str(tool.revision), tool.definition_digest[:_DIGEST_WIDTH])
        for tool in registered
    ]
    heading = [("SERVER", "NAME", "REVISION", "DEFINITION")] if lines else []
    servers = format_count(len({tool.server for tool in registered}), "server")
    summary = Row(((f"{format_count(len(registered), 'tool')} of {servers}", "bold"),))
    write_rows([*table([*heading, *lines], ("", "bold", "", "cyan")), summary])


@tools.command(
    "get",
    epilog=format_examples(
        "sidecheck tools get git git_log",
        "sidecheck tools get git git_log --format json | jq .definition",
    ),
)
@click.argument("server")
@click.argument("name")
@target_option
@timeout_option(2.0)
@tls_options("TARGET")
@form_option
def get_tool(
    server: str, name: str, target: str, timeout: float, tls: ClientTls | None, form: str
) -> None:
    """Show the digests and the definition of the tool NAME of SERVER."""
    with connect(target, timeout, tls) as client:
        tool = client.get(server, name)
    definition = read_json(tool.json)
    if form == "json":
        documents = [
            {"uri": document.uri, "json": _decode_document(document.json)}
            for document in tool.documents
        ]
        write_output(
            format_json({**_object(tool), "definition": definition, "documents": documents})
        )
        return
    rows = [(key.replace("_", " "), [str(value)]) for key, value in _object(tool).items() if value]
    if tool.documents:
        rows.append(("documents", [document.uri for document in tool.documents]))
    text = msgspec.json.format(encode_json(definition), indent=2).decode()
    lines = [Row(((escape(line), ""),), wraps=False) for line in text.splitlines()]
    write_rows([*fact_rows(rows), Row(), *lines])


@tools.command("delete", epilog=format_examples("sidecheck tools delete git git_log git_diff"))
@click.argument("server")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@target_option
@timeout_option(2.0)
@tls_options("TARGET")
@form_option
@click.pass_context
def delete_tools(
    context: click.Context,
    server: str,
    names: tuple[str, ...],
    target: str,
    timeout: float,
    tls: ClientTls | None,
    form: str,
) -> None:
    """Delete the tools NAME of SERVER.

    Exits with 1 if one of them is not registered; the others are deleted.
    """
    with connect(target, timeout, tls) as client:
        result = client.delete(server, names)
    if form == "json":
        write_output(format_json(asdict(result)))
    else:
        lines = [("deleted", name) for name in result.deleted]
        lines += [("unknown", name) for name in result.unknown]
        write_rows(table(lines, ("bold", "")))
    context.exit(1 if result.unknown else 0)


tools.add_command(register)


def _object(tool: Tool) -> dict[str, Any]:
    return {
        "server": tool.server,
        "name": tool.name,
        "definition_digest": tool.definition_digest,
        "input_schema_digest": tool.input_schema_digest,
        "output_schema_digest": tool.output_schema_digest,
        "revision": tool.revision,
    }


def _decode_document(document: Any) -> str:
    return document.decode() if isinstance(document, bytes) else str(document)
