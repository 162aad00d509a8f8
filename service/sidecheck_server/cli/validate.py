"""`sidecheck validate`: judge payloads offline, with the engines of the service."""

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
from sidecheck_server.core.limits import Limits

__all__ = ["validate"]

_LIMITS = Limits()


@click.command(
    epilog=examples(
        "sidecheck validate --schema schema.json payload.json",
        "sidecheck validate --tools tools.json --tool git_log call.json --format json",
        "echo '{\"q\": 1}' | sidecheck validate --schema schema.json -",
    )
)
@click.argument("payloads", nargs=-1, required=True, type=FILE, metavar="PAYLOAD...")
@click.option("--schema", type=FILE, metavar="FILE", help="The schema to judge under.")
@click.option(
    "--tools",
    type=FILE,
    metavar="FILE",
    help="Tool definitions: one, a list, or a tools/list answer.",
)
@click.option("--tool", metavar="NAME", help="Which of them; judges under its input schema.")
@document_option
@click.option("--assert-formats", is_flag=True, help="Assert `format`; else it is an annotation.")
@click.option(
    "--max-violations",
    type=click.IntRange(1, _LIMITS.violations),
    default=20,
    show_default=True,
    help="The largest number of violations for each payload.",
)
@click.option("--hide-values", is_flag=True, help="Leave the values of payloads out of messages.")
@form_option
@excerpts_option
@click.pass_context
def validate(
    context: click.Context,
    payloads: tuple[str, ...],
    schema: str | None,
    tools: str | None,
    tool: str | None,
    documents: tuple[tuple[str, str], ...],
    assert_formats: bool,
    max_violations: int,
    hide_values: bool,
    form: str,
    excerpts: bool | None,
) -> None:
    """Judge each PAYLOAD, a JSON file; - reads standard input.

    Exits with 0 if all are valid, with 1 if there are violations or refusals, and
    with 2 if the command is wrong or a file cannot be read.
    """
    if (schema is None) == (tools is None):
        raise click.UsageError("give either --schema or --tools")
    if (tools is None) != (tool is None):
        raise click.UsageError("--tools and --tool belong together")
    inputs = [*payloads, *(name for name in (schema, tools) if name), *(f for _, f in documents)]
    if inputs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    brought = read_documents(documents)
    definition = read_input(schema or tools or "")
    texts = [(name, read_input(name)) for name in payloads]
    # Imported here, so that the other commands start without the engines.
    from sidecheck_server.cli.judgements import judge_payloads, write_judgements  # noqa: PLC0415

    judgements = judge_payloads(
        definition,
        tool,
        brought,
        texts,
        assert_formats=assert_formats,
        max_violations=max_violations,
        hide_values=hide_values,
    )
    # An excerpt would show the values that are to be hidden.
    write_judgements(form, judgements, excerpts=False if hide_values else excerpts)
    context.exit(0 if all(one.valid for one in judgements) else 1)
