"""`sidecheck validate`: judge payloads offline, with the engines of the service."""

from collections.abc import Sequence
from dataclasses import replace

import click

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.reports import Report, as_json, as_text
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Refusal
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
    reports = _reports(
        definition,
        tool,
        brought,
        texts,
        assert_formats=assert_formats,
        max_violations=max_violations,
        hide_values=hide_values,
    )
    write_output(as_json(reports) if form == "json" else as_text(reports))
    context.exit(0 if all(report.valid for report in reports) else 1)


def _reports(
    definition: bytes,
    tool: str | None,
    documents: tuple[Document, ...],
    texts: Sequence[tuple[str, bytes]],
    *,
    assert_formats: bool,
    max_violations: int,
    hide_values: bool,
) -> list[Report]:
    # Imported here, so that the other commands start without the engines.
    from sidecheck_server.core.compiled import CompiledSchema  # noqa: PLC0415
    from sidecheck_server.core.judge import Judging, judge  # noqa: PLC0415
    from sidecheck_server.core.mcp.tools import find_tool, read_tool  # noqa: PLC0415
    from sidecheck_server.core.schemas.compilation import compile_source  # noqa: PLC0415
    from sidecheck_server.core.schemas.source import SchemaSource  # noqa: PLC0415

    how = Judging(max_violations=max_violations, hide_values=hide_values)

    def report(name: str, text: bytes) -> Report:
        try:
            return Report(name, judge(compiled, text, how))
        except Refusal as refusal:
            return Report(name, refusal)

    try:
        source = (
            SchemaSource(definition, documents)
            if tool is None
            else read_tool(find_tool(definition, tool, _LIMITS), documents, _LIMITS).input
        )
        source = replace(source, assert_formats=assert_formats)
        compiled = CompiledSchema(source, compile_source(source, _LIMITS), _LIMITS)
    except Refusal as refusal:
        return [Report(name, refusal) for name, _ in texts]
    return [report(name, text) for name, text in texts]
