"""`sidecheck validate`: judge payloads offline, with the engines of the service."""

from dataclasses import replace

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.reports import Report, as_json, as_text
from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.judge import Judging, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools import find_tool, read_tool
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.schemas.compilation import compile_source
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.words import Document

__all__ = ["validate"]

_LIMITS = Limits()


@click.command()
@click.argument("payloads", nargs=-1, required=True, metavar="PAYLOAD...")
@click.option("--schema", metavar="FILE", help="The schema to judge under.")
@click.option(
    "--tools", metavar="FILE", help="Tool definitions: one, a list, or a tools/list answer."
)
@click.option("--tool", metavar="NAME", help="Which of them; judges under its input schema.")
@click.option(
    "--document",
    "documents",
    multiple=True,
    nargs=2,
    metavar="URI FILE",
    help="A document that the schema refers to. May be repeated.",
)
@click.option("--assert-formats", is_flag=True, help="Assert `format`; else it is an annotation.")
@click.option(
    "--max-violations",
    type=click.IntRange(1, _LIMITS.violations),
    default=20,
    show_default=True,
    help="The largest number of violations for each payload.",
)
@click.option("--hide-values", is_flag=True, help="Leave the values of payloads out of messages.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
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
) -> None:
    r"""Judge each PAYLOAD, a JSON file; - reads standard input.

    Exits with 0 if all are valid, with 1 if there are violations or refusals, and
    with 2 if the command is wrong or a file cannot be read.

    \b
    Examples:
      sidecheck validate --schema schema.json payload.json
      sidecheck validate --tools tools.json --tool git_log call.json --format json
      echo '{"q": 1}' | sidecheck validate --schema schema.json -
    """
    if (schema is None) == (tools is None):
        raise click.UsageError("give either --schema or --tools")
    if (tools is None) != (tool is None):
        raise click.UsageError("--tools and --tool belong together")
    inputs = [*payloads, *(name for name in (schema, tools) if name), *(f for _, f in documents)]
    if inputs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    brought = tuple(Document(uri, read_input(file)) for uri, file in documents)
    definition = read_input(schema or tools or "")
    texts = [(name, read_input(name)) for name in payloads]
    how = Judging(max_violations=max_violations, hide_values=hide_values)
    try:
        source = (
            SchemaSource(definition, brought)
            if tool is None
            else read_tool(find_tool(definition, tool, _LIMITS), brought, _LIMITS).input
        )
        source = replace(source, assert_formats=assert_formats)
        compiled = CompiledSchema(source, compile_source(source, _LIMITS), _LIMITS)
    except Refusal as refusal:
        reports = [Report(name, refusal) for name, _ in texts]
    else:
        reports = [_report(name, text, compiled, how) for name, text in texts]
    click.echo(as_json(reports) if form == "json" else as_text(reports))
    context.exit(0 if all(report.valid for report in reports) else 1)


def _report(name: str, text: bytes, compiled: CompiledSchema, how: Judging) -> Report:
    try:
        return Report(name, judge(compiled, text, how))
    except Refusal as refusal:
        return Report(name, refusal)
