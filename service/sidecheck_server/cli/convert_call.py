"""`sidecheck convert-call`: convert a model's call to MCP, offline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.findings import Finding, Source, Spot, create_findings
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    excerpts_option,
    form_option,
    format_examples,
    read_documents,
)
from sidecheck_server.cli.reports import (
    Block,
    format_count,
    format_json,
    format_severities,
    violation_object,
    write_blocks,
)
from sidecheck_server.cli.rows import Row, escape, is_terminal, table, write_rows
from sidecheck_server.cli.tool_files import list_or_exit
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.tool_error_text import tool_error_text
from sidecheck_server.core.types import Change, Document, Verdict
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.services.container import Services
from sidecheck_server.services.model_calls import CallToConvert, ConvertedCall
from sidecheck_server.services.validation import ValidationOptions

__all__ = ["convert_call"]


@click.command(
    "convert-call",
    epilog=format_examples(
        "sidecheck convert-call --mappings mappings.json --tools tools.json call.json",
        "my-model | sidecheck convert-call --mappings m.json --tools tools.json -",
    ),
)
@click.argument("call", type=FILE)
@click.option(
    "--mappings",
    required=True,
    type=FILE,
    metavar="FILE",
    help="Mapping of the called tool, or a JSON array of the mappings of all tools of the "
    "request, as written by `sidecheck convert`.",
)
@click.option(
    "--tools",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Original tool definitions, as given to `sidecheck convert`: the arguments are "
    "validated against them. May be repeated.",
)
@document_option
@form_option
@excerpts_option
@click.pass_context
def convert_call(
    context: click.Context,
    call: str,
    mappings: str,
    tools: tuple[str, ...],
    documents: tuple[tuple[str, str], ...],
    form: str,
    excerpts: bool | None,
) -> None:
    """Convert CALL, made by a model, to the `params` of a `tools/call`, and validate it.

    CALL is a JSON file in the format of the API: an element of `tool_calls`, a
    `function_call` item, a `tool_use` block, a `functionCall` or `toolUse` part; -
    reads standard input. The params are written to standard output; changes and
    violations, with their position in the params, to standard error. If the call cannot
    be read, there are no params, and positions are those in CALL.

    Exits with 0 if the arguments are valid against the original input schema, with 1 if
    they are not, and with 2 if the command is wrong, a file cannot be read, or no
    mapping belongs to the call and the tools.
    """
    if not tools:
        raise click.UsageError(
            "give --tools: the original definitions that the arguments are validated against"
        )
    if [call, mappings, *tools, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    source = Source(call, read_input(call))
    mappings_text = read_input(mappings)
    definitions = list(_read_definitions(tools, read_documents(documents)))
    try:
        texts = _split_mappings(mappings, mappings_text)
        converted_call = run_in_process(
            lambda services: _convert(services, source.text, texts, definitions)
        )
    except RequestError as error:
        raise _FailedError(escape(f"{error.reason.value}: {_error_text(error)}")) from None
    report = _report(converted_call, source)
    _write(form, report, excerpts=excerpts)
    context.exit(0 if report.verdict.valid else 1)


class _FailedError(click.ClickException):
    """The call cannot be converted with these mappings and tools."""

    exit_code = 2


def _error_text(error: RequestError) -> str:
    if error.reason is ErrorReason.UNKNOWN_DEFINITION:
        return "no file of --tools has the definition that the mapping was made from"
    return error.message


def _split_mappings(name: str, text: bytes) -> list[bytes]:
    """Return the texts of the mappings in *text*: one, or an array of them."""
    if text.lstrip()[:1] != b"[":
        return [text]
    try:
        return [bytes(raw) for raw in msgspec.json.decode(text, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, RecursionError) as error:
        message = f"{name} is not a JSON array of mappings: {error}"
        raise RequestError(ErrorReason.INVALID_MAPPING, message) from None


def _read_definitions(
    tools: Sequence[str], documents: tuple[Document, ...]
) -> Iterator[Definition]:
    """Yield the valid definitions in the files *tools*."""
    for name in dict.fromkeys(tools):
        for entry in list_or_exit(name, read_input(name), LIMITS):
            try:
                tool = read_tool(entry.json, documents, LIMITS)
            except RequestError:
                continue  # `sidecheck convert` rejects it, so that no mapping refers to it.
            yield Definition(
                digest=tool.digest,
                name=tool.name,
                json=tool.json,
                documents=documents,
                input_schema_digest=tool.input_digest,
                output_schema_digest=tool.output_digest,
                protocol_version=DEFAULT_VERSION,
            )


async def _convert(
    services: Services,
    call: bytes,
    mappings: Sequence[bytes],
    definitions: Sequence[Definition],
) -> ConvertedCall:
    # One namespace for each definition, because several may have the same name.
    for number, definition in enumerate(definitions):
        services.registry.register(str(number), [definition], keep=None)
    options = ValidationOptions(EvaluationOptions(), DEFAULT_VERSION)
    return await services.call_converter.convert(
        CallToConvert(call, tuple(mappings), None, options)
    )


@dataclass(frozen=True, slots=True)
class _Report:
    """Converted call in the form of the output."""

    call: ConvertedCall
    #: The params as formatted JSON, or "" if there are none.
    params: str
    verdict: Verdict
    #: Text that the locations of the verdict point into, below *pointer*.
    source: Source
    pointer: str
    changes: tuple[Change, ...]

    def findings(self) -> list[Finding]:
        """Return the violations with their positions in the source."""
        violations = self.verdict.violations
        return create_findings(
            self.source,
            [
                Spot(violation, self.pointer + violation.instance_location)
                for violation in violations
            ],
        )

    def tool_error_text(self) -> str:
        """Return the text for the model, or "" if the call is valid."""
        call = self.call.verdict
        verdict = call.verdict if call.part is None else call.part
        return tool_error_text(verdict, tool=call.tool or None)


def _report(call: ConvertedCall, input_source: Source) -> _Report:
    verdict = call.verdict.verdict
    if call.params:
        params = format_json(read_json(call.params))
        source, pointer = Source("params", params.encode()), "/arguments"
    else:
        params, pointer, source = "", "", input_source
        if call.arguments:
            arguments = format_json(read_json(call.arguments))
            source = Source("arguments", arguments.encode())
    return _Report(call, params, verdict, source, pointer, call.changes)


def _write(form: str, report: _Report, *, excerpts: bool | None) -> None:
    """Write the params to standard output; as text, everything else to standard error."""
    if form == "json":
        write_output(format_json(_object(report)))
        return
    if report.params:
        write_output(report.params)
    if report.changes:
        write_rows(_change_rows(report.changes), to_stderr=True)
    findings = report.findings()
    word = ("valid", "bold green") if report.verdict.valid else ("invalid", "bold red")
    subject = escape(report.call.tool or report.source.name)
    note = "... there may be more" if report.verdict.truncated else ""
    summary = format_severities(findings)
    if report.changes:
        summary += f", {format_count(len(report.changes), 'change')}"
    show_excerpts = is_terminal(to_stderr=True) if excerpts is None else excerpts
    block = Block(((f"{subject}: ", "bold"), word), findings, note)
    write_blocks([block], summary, excerpts=show_excerpts, to_stderr=True)


def _change_rows(changes: Sequence[Change]) -> Iterator[Row]:
    lines = [
        ("changed", change.pointer or "(root)", change.rule.value, change.message)
        for change in changes
    ]
    yield from table(lines, ("bold", "cyan", "bold", ""))


# Omitted in JSON, where the params are embedded and have no lines of their own.
_POSITION_PROPERTIES = frozenset({"line", "column"})


def _object(report: _Report) -> dict[str, Any]:
    call = report.call
    return {
        "server": call.server,
        "tool": call.tool,
        "call_id": call.call_id,
        "params": read_json(report.params) if report.params else None,
        "valid": report.verdict.valid,
        "violations": [
            {
                name: value
                for name, value in violation_object(finding).items()
                if name not in _POSITION_PROPERTIES
            }
            for finding in report.findings()
        ],
        "changes": [
            {
                "instance_location": change.pointer,
                "code": change.rule.value,
                "message": change.message,
            }
            for change in report.changes
        ],
        "tool_error_text": report.tool_error_text(),
    }
