"""`sidecheck convert`: convert tools to the format of a model API, offline."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from sidecheck_server.cli.conversion_reports import (
    Report,
    ReportedTool,
    check_mappings_file,
    mappings_json,
    mappings_option,
    write_report,
)
from sidecheck_server.cli.files import write_file
from sidecheck_server.cli.findings import Source
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    form_option,
    format_examples,
    read_documents,
    version_option,
)
from sidecheck_server.cli.served_tools import (
    ServerCommand,
    read_served,
    read_sources,
    server_options,
)
from sidecheck_server.cli.tool_files import list_or_exit
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import (
    ConversionOptions,
    Mode,
    ModelApi,
    ServerPrefix,
)
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.types import Document
from sidecheck_server.services.container import Services
from sidecheck_server.services.conversion import ToolsToConvert, ToolToConvert
from sidecheck_server.services.targets import InlineTool

__all__ = ["convert"]


@click.command(
    cls=ServerCommand,
    epilog=format_examples(
        "sidecheck convert --to openai-chat tools.json > request-tools.json",
        "sidecheck convert --to anthropic --mappings-out mappings.json tools.json",
        "sidecheck convert --to openai-responses --mode strict-if-lossless tools.json",
        "my-server --list-tools | sidecheck convert --to gemini --format json -",
    ),
)
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE...]")
@server_options
@click.option(
    "--to",
    "api",
    required=True,
    type=click.Choice([api.value for api in ModelApi]),
    metavar="API",
    help=f"Model API: {', '.join(ModelApi)}.",
)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default="compatible",
    show_default=True,
    help="Use of the strict mode (structured outputs) of the API.",
)
@click.option("--server", default="", metavar="NAME", help="Server that offers the tools.")
@click.option(
    "--server-prefix",
    type=click.Choice([ServerPrefix.ALWAYS.value, ServerPrefix.NEVER.value]),
    default=ServerPrefix.NEVER.value,
    show_default=True,
    help="Whether tool names get the server name as a prefix.",
)
@click.option(
    "--assume-closed",
    is_flag=True,
    help="Treat an object schema with properties and without additionalProperties as closed; "
    "many tools can be strict only then.",
)
@click.option(
    "--description-length",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Maximum length of a tool description, in characters.  [default: that of the API]",
)
@click.option(
    "--include-output-schema", is_flag=True, help="Include output schemas, if the API accepts them."
)
@click.option(
    "--drop-defaults",
    is_flag=True,
    help="Drop every default of the input schemas, rather than keep or describe it.",
)
@version_option(f"Included output schemas have the form for it.  [default: {DEFAULT_VERSION}]")
@document_option
@form_option
@mappings_option
@click.pass_context
def convert(
    context: click.Context,
    files: tuple[str, ...],
    url: str | None,
    headers: tuple[str, ...],
    server_timeout: float,
    api: str,
    mode: str,
    server: str,
    server_prefix: str,
    assume_closed: bool,
    description_length: int,
    include_output_schema: bool,
    drop_defaults: bool,
    protocol_version: str | None,
    documents: tuple[tuple[str, str], ...],
    form: str,
    mappings_out: str | None,
) -> None:
    """Convert the tool definitions in each FILE for one request to a model API.

    In place of files, tools of a running MCP server are read: of a COMMAND, which is
    started, or of --url. A file contains one definition, a list of definitions, or a
    tools/list result, with or without its JSON-RPC response; - reads standard input.
    The tools are written to standard output in the format of the request; losses and
    errors to standard error. With --format json all of it is one object on standard
    output.

    Exits with 0 if all tools were converted, with 1 if some were not or the request
    exceeds a limit of the API, and with 2 if the command is wrong or a file cannot be
    read or has no tools.
    """
    if [*files, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    check_mappings_file(mappings_out)
    if server_prefix == ServerPrefix.ALWAYS and not server:
        raise click.UsageError("--server-prefix always needs --server")
    options = ConversionOptions(
        mode=Mode(mode),
        server_prefix=ServerPrefix(server_prefix),
        assume_closed=assume_closed,
        description_length=description_length,
        include_output_schema=include_output_schema,
        drop_defaults=drop_defaults,
        protocol_version=protocol_version or "",
    )
    served = read_served(context, url, headers, server_timeout, protocol_version)
    tools = _read_tools(read_sources(files, served), read_documents(documents))
    report = run_in_process(
        lambda services: _convert(services, tools, ModelApi(api), options, server)
    )
    # Decision 0035: the caller keeps the mappings, and no server stores them.
    if mappings_out is not None:
        write_file(mappings_out, mappings_json(report))
    write_report(form, report)
    context.exit(0 if report.ok else 1)


@dataclass(frozen=True, slots=True)
class _ListedTool:
    """Tool definition in a file."""

    #: Name of the file on the command line.
    file: str
    definition: InlineTool


def _read_tools(sources: Sequence[Source], documents: tuple[Document, ...]) -> list[_ListedTool]:
    """Return the tools of *sources*.

    Raises:
        click.ClickException: a source has no tools; exit code 2.
    """
    return [
        _ListedTool(source.name, InlineTool(tool.json, documents))
        for source in sources
        for tool in list_or_exit(source.name, source.text, LIMITS)
    ]


async def _convert(
    services: Services,
    tools: Sequence[_ListedTool],
    api: ModelApi,
    options: ConversionOptions,
    server: str,
) -> Report:
    inputs = tuple(ToolToConvert(tool.definition, server) for tool in tools)
    conversions = await services.converter.convert(ToolsToConvert(PROVIDERS[api], options, inputs))
    return Report(
        PROVIDERS[api],
        tuple(
            ReportedTool(tool.file, conversion.name, conversion.outcome)
            for tool, conversion in zip(tools, conversions.tools, strict=True)
        ),
        conversions.request,
    )
