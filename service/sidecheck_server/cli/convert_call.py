"""`sidecheck restore`: the call that a model made, as MCP has it, offline."""

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    examples,
    excerpts_option,
    form_option,
    read_documents,
)

__all__ = ["restore"]


@click.command(
    epilog=examples(
        "sidecheck restore --plan plans.json --tools tools.json call.json",
        "my-model | sidecheck restore --plan plans.json --tools tools.json -",
    )
)
@click.argument("call", type=FILE)
@click.option(
    "--plan",
    required=True,
    type=FILE,
    metavar="FILE",
    help="The plan of the tool, or an array of those of all tools of the request.",
)
@click.option(
    "--tools",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="The original definitions, as `sidecheck convert` had them; needed, since the "
    "arguments are judged under them and no server is asked. May be repeated.",
)
@document_option
@form_option
@excerpts_option
@click.pass_context
def restore(
    context: click.Context,
    call: str,
    plan: str,
    tools: tuple[str, ...],
    documents: tuple[tuple[str, str], ...],
    form: str,
    excerpts: bool | None,
) -> None:
    """Turn the CALL that a model made into the `params` of a `tools/call`, and judge it.

    CALL is a JSON file as the API gave it: an element of `tool_calls`, a
    `function_call` item, a `tool_use` block, a `functionCall` or `toolUse` part; -
    reads standard input. Standard output gets the params; standard error what was
    changed, and what is wrong with the arguments, with its place in that output. A call
    that cannot be read has no params, and what is wrong has its place in CALL.

    Exits with 0 if the arguments are valid under the original input schema, with 1 if
    they are not, and with 2 if the command is wrong, a file cannot be read, or the plan
    is none or does not belong to the call or to the tools.
    """
    if not tools:
        raise click.UsageError(
            "give --tools: the original definitions, under which the arguments are judged"
        )
    if [call, plan, *tools, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    brought = read_documents(documents)
    read = {name: read_input(name) for name in (call, plan, *tools)}
    # Imported here, so that the other commands start without the engines.
    from sidecheck_server.cli.restoration_reports import write_restored  # noqa: PLC0415
    from sidecheck_server.cli.restorations import restore_call  # noqa: PLC0415

    originals = [(name, read[name]) for name in dict.fromkeys(tools)]
    restored = restore_call((call, read[call]), (plan, read[plan]), originals, brought)
    write_restored(form, restored, excerpts=excerpts)
    context.exit(0 if restored.verdict.valid else 1)
