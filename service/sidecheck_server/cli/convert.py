"""`sidecheck convert`: convert tools to the format of a model API, offline."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from sidecheck_server.cli.files import read_input, write_file, write_output
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    examples,
    form_option,
    read_documents,
    version_option,
)
from sidecheck_server.cli.reports import STYLES, counted, in_json
from sidecheck_server.cli.rows import (
    Part,
    Row,
    is_terminal,
    page_width,
    printable,
    table,
    write_rows,
)
from sidecheck_server.cli.tool_files import list_or_exit
from sidecheck_server.core.convert.converted_tool import ConvertedTool, combine_tools
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.types import (
    ConversionOptions,
    Effect,
    Loss,
    Mode,
    ModelApi,
    ServerPrefix,
)
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import Document, Verdict, Violation
from sidecheck_server.services.container import Services
from sidecheck_server.services.conversion import ToolsToConvert, ToolToConvert
from sidecheck_server.services.targets import InlineTool

__all__ = [
    "Report",
    "ReportedTool",
    "convert",
    "mappings_json",
    "write_report",
]

_HEADING = ("TOOL", "LOCATION", "KEYWORD", "ACTION", "EFFECT", "MESSAGE")
_STYLES = ("bold", "cyan", "cyan", "", "bold", "")


@dataclass(frozen=True, slots=True)
class ReportedTool:
    """Outcome of the conversion of one tool."""

    #: Name of its file, as given.
    file: str
    #: Its own name, or "" if that cannot be read.
    name: str
    outcome: ConvertedTool | RequestError


@dataclass(frozen=True, slots=True)
class Report:
    """Outcome of a conversion."""

    api: Provider
    #: In the order of the files.
    tools: tuple[ReportedTool, ...]
    #: Verdict on the converted tools as one request.
    request: Verdict

    @property
    def ok(self) -> bool:
        """Whether all tools were converted and fit in one request."""
        return self.request.valid and len(self.converted) == len(self.tools)

    @property
    def converted(self) -> list[ConvertedTool]:
        """The tools that were converted."""
        outcomes = (tool.outcome for tool in self.tools)
        return [outcome for outcome in outcomes if isinstance(outcome, ConvertedTool)]

    def losses(self) -> Iterator[tuple[str, Loss]]:
        """Yield each loss with the name of its tool."""
        for tool in self.tools:
            if isinstance(tool.outcome, ConvertedTool):
                for loss in tool.outcome.losses:
                    yield tool.name, loss

    def errors(self) -> Iterator[tuple[str, str, RequestError]]:
        """Yield each error with the file and name of its tool."""
        for tool in self.tools:
            if isinstance(tool.outcome, RequestError):
                yield tool.file, tool.name, tool.outcome

    def not_strict(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each tool that is not strict although the mode prefers it, and why."""
        for tool in self.tools:
            if isinstance(tool.outcome, ConvertedTool) and tool.outcome.not_strict_reason:
                yield tool.name, tool.outcome.not_strict_reason


def mappings_json(report: Report) -> str:
    """Return the mappings of the converted tools, as a JSON array."""
    return in_json(_mappings(report))


def write_report(form: str, report: Report) -> None:
    """Write the tools to standard output in the format *form*.

    As text, losses and errors go to standard error.
    """
    if form == "json":
        write_output(in_json(_object(report)))
        return
    write_output(in_json(_tools(report)))
    write_rows(_rows(report), aside=True)


def _tools(report: Report) -> Any:
    return read_json(combine_tools(report.api.key, [tool.json for tool in report.converted]))


def _mappings(report: Report) -> list[Any]:
    return [read_json(tool.mapping) for tool in report.converted]


def _object(report: Report) -> dict[str, Any]:
    return {
        "tools": _tools(report),
        "errors": [
            {"file": file, "name": name, "reason": error.reason.value, "message": error.message}
            for file, name, error in report.errors()
        ],
        "losses": [
            {
                "tool": name,
                "pointer": loss.pointer,
                "keyword": loss.keyword,
                "action": loss.action.value,
                "effect": loss.effect.value,
                "message": loss.message,
            }
            for name, loss in report.losses()
        ],
        "not_strict": [{"tool": name, "reason": reason} for name, reason in report.not_strict()],
        "mappings": _mappings(report),
        "request": {
            "valid": report.request.valid,
            "violations": [_violation(violation) for violation in report.request.violations],
        },
    }


def _violation(violation: Violation) -> dict[str, str]:
    return {
        "code": violation.code,
        "severity": violation.severity.value,
        "instance_location": violation.instance_location,
        "message": violation.message,
        "spec_url": violation.spec_url,
    }


def _rows(report: Report) -> Iterator[Row]:
    yield from _loss_rows(report)
    for file, name, error in report.errors():
        subject = ": ".join(filter(None, (file, name)))
        message = f"{error.reason.value}: {error.message}"
        yield _note(subject, ("not converted", "bold red"), message)
    for name, reason in report.not_strict():
        yield _note(name, ("not strict", "bold yellow"), reason)
    for violation in report.request.violations:
        severity = (violation.severity.value, STYLES[violation.severity])
        location = f" (at {violation.instance_location})" if violation.instance_location else ""
        yield _note("the request", severity, f"{violation.code}: {violation.message}{location}")
    yield Row(((_summary(report), "bold"),))


def _loss_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each loss, in columns; on a narrow terminal two rows below the tool."""
    lines = [
        (
            name,
            loss.pointer or "(root)",
            loss.keyword,
            loss.action.value,
            loss.effect.value,
            loss.message,
        )
        for name, loss in report.losses()
    ]
    if not lines:
        return
    rows = list(table([_HEADING, *lines], _STYLES))
    width = page_width(aside=True)
    if not is_terminal(aside=True) or all(len(row.plain) <= width for row in rows):
        yield from rows
        return
    previous = None
    for line in lines:
        name, pointer, keyword, action, effect, message = map(printable, line)
        if name != previous:
            yield Row(((name, "bold"),))
        location = " ".join(filter(None, (pointer, keyword)))
        yield Row(((f"{location}: ", "cyan"), (f"{action}, ", ""), (effect, "bold")), indent=2)
        yield Row(((message, ""),), indent=4)
        previous = name


def _note(subject: str, word: Part, message: str) -> Row:
    return Row(((printable(subject), "bold"), (": ", ""), word, (printable(f": {message}"), "")))


def _summary(report: Report) -> str:
    strict = sum(tool.strict for tool in report.converted)
    failed = len(report.tools) - len(report.converted)
    parts = [f"{counted(len(report.converted), 'tool')} for {report.api.display_name}"]
    parts += [f"{strict:,} strict"] if strict else []
    parts += [f"{failed:,} not converted"] if failed else []
    counts = Counter(loss.effect for _, loss in report.losses())
    if not counts:
        return ", ".join([*parts, "no losses"])
    by_effect = (
        f"{counts[effect]:,} {effect.value}" for effect in reversed(Effect) if counts[effect]
    )
    total = counts.total()
    losses = f"{total:,} loss{'' if total == 1 else 'es'}"
    return ", ".join([*parts, f"{losses} ({', '.join(by_effect)})"])


@click.command(
    epilog=examples(
        "sidecheck convert --to openai-chat tools.json > request-tools.json",
        "sidecheck convert --to anthropic --mappings-out mappings.json tools.json",
        "sidecheck convert --to openai-responses --mode strict-if-lossless tools.json",
        "my-server --list-tools | sidecheck convert --to gemini --format json -",
    )
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
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
    help="Treat an object schema that declares properties and does not mention others as "
    "closed; many tools are strict only then.",
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
@click.option(
    "--mappings-out",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the mappings for `sidecheck convert-call` to FILE, as a JSON array.",
)
@click.pass_context
def convert(
    context: click.Context,
    files: tuple[str, ...],
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

    A file contains one definition, a list of definitions, or a tools/list result, with
    or without its JSON-RPC response; - reads standard input. The tools are written to
    standard output in the format of the request; losses and errors to standard error.
    With --format json all of it is one object on standard output.

    Exits with 0 if all tools were converted, with 1 if some were not or the request
    exceeds a limit of the API, and with 2 if the command is wrong or a file cannot be
    read or has no tools.
    """
    if [*files, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    if mappings_out == "-":
        raise click.UsageError(
            "--mappings-out needs a file: the tools are written to standard output; "
            "--format json includes the mappings"
        )
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
    tools = _read_tools(files, read_documents(documents))
    report = run_in_process(
        lambda services: _convert(services, tools, ModelApi(api), options, server)
    )
    if mappings_out is not None:
        write_file(mappings_out, mappings_json(report))
    write_report(form, report)
    context.exit(0 if report.ok else 1)


@dataclass(frozen=True, slots=True)
class _ListedTool:
    """Tool definition in a file."""

    #: Name of the file, as given.
    file: str
    definition: InlineTool


def _read_tools(files: Sequence[str], documents: tuple[Document, ...]) -> list[_ListedTool]:
    """Return the tools of *files*.

    Raises:
        click.ClickException: a file cannot be read or has no tools; exit code 2.
    """
    texts = [(name, read_input(name)) for name in dict.fromkeys(files)]
    return [
        _ListedTool(name, InlineTool(tool.json, documents))
        for name, text in texts
        for tool in list_or_exit(name, text, LIMITS)
    ]


async def _convert(
    services: Services,
    tools: Sequence[_ListedTool],
    api: ModelApi,
    options: ConversionOptions,
    server: str,
) -> Report:
    requested = tuple(ToolToConvert(tool.definition, server) for tool in tools)
    converted = await services.converter.convert(ToolsToConvert(PROVIDERS[api], options, requested))
    return Report(
        PROVIDERS[api],
        tuple(
            ReportedTool(tool.file, conversion.name, conversion.outcome)
            for tool, conversion in zip(tools, converted.tools, strict=True)
        ),
        converted.request,
    )
