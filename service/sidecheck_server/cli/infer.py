"""`sidecheck infer`: infer tool definitions from Python source text, offline."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click

from sidecheck_server.cli.excerpts import excerpt_rows
from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.findings import Finding, Place, Source
from sidecheck_server.cli.in_process import run_in_process
from sidecheck_server.cli.options import FILE, form_option, format_examples, version_option
from sidecheck_server.cli.reports import STYLES, format_count, format_json
from sidecheck_server.cli.rows import Row, escape, page_width, write_rows
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.infer.types import (
    Diagnostic,
    InferenceOptions,
    InferenceResult,
    InferredTool,
    OnUnsupported,
)
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.services.container import Services
from sidecheck_server.services.targets import InlineTool

__all__ = ["infer"]


@click.command(
    epilog=format_examples(
        "sidecheck infer server.py > tools.json",
        "sidecheck infer server.py | sidecheck check -",
        "sidecheck infer server.py --function search --function Index.look_up",
        "sidecheck infer server.py --inject-type Session --format json",
    )
)
@click.argument("file", type=FILE, metavar="FILE")
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="Function to read, Class.method for a method. May be repeated.  "
    "[default: functions with a decorator named tool, or else all public ones]",
)
@click.option(
    "--on-unsupported",
    type=click.Choice(["error", "any"]),
    default="error",
    show_default=True,
    help="Treatment of a type without schema: leave the tool out with an error, or accept "
    "any value with a warning.",
)
@click.option(
    "--inject-type",
    "injected_types",
    multiple=True,
    metavar="NAME",
    help="Type whose parameters the server injects; they are not arguments. May be repeated.",
)
@version_option(f"Output schemas are written in the form for it.  [default: {DEFAULT_VERSION}]")
@form_option
@click.pass_context
def infer(
    context: click.Context,
    file: str,
    functions: tuple[str, ...],
    on_unsupported: str,
    injected_types: tuple[str, ...],
    protocol_version: str | None,
    form: str,
) -> None:
    """Infer tool definitions from the Python source text in FILE.

    The text is parsed and never run; - reads standard input. A name that the text does not
    define, such as a type imported from another file, is an error, and its tool is left
    out. For versions before 2026-07-28, an output schema whose root is not an object is
    wrapped in an object.

    The definitions are written to standard output as a JSON array, diagnostics to
    standard error. With --format json both are one object on standard output.

    Exits with 0 if all tools were inferred, with 1 if there is an error, and with 2 if
    the command is wrong, or the file cannot be read or is too large.
    """
    text = read_input(file)
    options = InferenceOptions(
        functions=functions,
        on_unsupported=OnUnsupported(on_unsupported),
        injected_types=injected_types,
    )
    try:
        version = protocol_version or DEFAULT_VERSION
        result = run_in_process(lambda services: _infer(services, text, options, version))
    except RequestError as error:
        raise click.UsageError(f"cannot read {file}: {error.message}") from None
    context.exit(0 if _write(form, file, text, result) else 1)


async def _infer(
    services: Services, text: bytes, options: InferenceOptions, version: str
) -> InferenceResult:
    """Return the tools in *text*, adapted to *version*."""
    result = await services.inferrer.infer(text, options)
    tools = []
    for tool in result.tools:
        adapted = await services.adapter.adapt(InlineTool(tool.json), version)
        tools.append(replace(tool, json=adapted.json, digest=digest_of(read_json(adapted.json))))
    return replace(result, tools=tuple(tools))


_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def _write(form: str, file: str, text: bytes, result: InferenceResult) -> bool:
    """Write the tools and diagnostics; return whether there is no error."""
    if form == "json":
        output = {
            "tools": [_tool_object(tool) for tool in result.tools],
            "diagnostics": [_diagnostic_object(diagnostic) for diagnostic in result.diagnostics],
        }
        write_output(format_json(output))
    else:
        write_output(format_json([read_json(tool.json) for tool in result.tools]))
        if result.diagnostics:
            write_rows([*_rows(Source(file, text), result), _summary(result)], to_stderr=True)
        elif not result.tools:
            write_rows([_no_tools(file)], to_stderr=True)
    return not any(diagnostic.severity is Severity.ERROR for diagnostic in result.diagnostics)


def _tool_object(tool: InferredTool) -> dict[str, Any]:
    return {
        "function": tool.function,
        "line": tool.line,
        "digest": tool.digest,
        "definition": read_json(tool.json),
    }


def _diagnostic_object(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "line": diagnostic.location.line,
        "column": diagnostic.location.column,
        "end_line": diagnostic.location.end_line,
        "end_column": diagnostic.location.end_column,
        "function": diagnostic.function,
        "parameter": diagnostic.parameter,
    }


def _rows(source: Source, result: InferenceResult) -> Iterator[Row]:
    width = page_width(to_stderr=True)
    starts = [0, *(match.end() for match in _LINE_END.finditer(source.text))]
    for diagnostic in result.diagnostics:
        style = STYLES[diagnostic.severity]
        place = diagnostic.location
        location = f"{escape(source.name)}:"
        location += f"{place.line}:{place.column}:" if place.line else ""
        message = escape(diagnostic.message)
        yield Row(
            (
                (f"{location} ", "bold"),
                (f"{diagnostic.severity.value} ", style),
                (diagnostic.code, "bold"),
                (f" {message}", ""),
            ),
            wraps=False,
        )
        if place.line:
            yield from excerpt_rows(_finding(source, diagnostic, starts), width, style)


def _finding(source: Source, diagnostic: Diagnostic, starts: list[int]) -> Finding:
    place = diagnostic.location
    start = _offset(source.text, starts, place.line, place.column)
    end = _offset(source.text, starts, place.end_line, place.end_column)
    return Finding(
        source,
        "",
        "",
        Violation("", "", "", diagnostic.code, diagnostic.message, diagnostic.severity),
        Place(start, end, place.line, place.column, place.end_line, place.end_column),
    )


def _offset(text: bytes, starts: list[int], line: int, column: int) -> int:
    """Return the byte offset of *line* and *column*, which counts characters from 1."""
    start = starts[min(line, len(starts)) - 1]
    if line == 1 and text.startswith(_BYTE_ORDER_MARK):
        start += len(_BYTE_ORDER_MARK)
    end = starts[line] if line < len(starts) else len(text)
    before = text[start:end].decode("utf-8", "surrogateescape")[: column - 1]
    return start + len(before.encode("utf-8", "surrogateescape"))


def _no_tools(file: str) -> Row:
    message = (
        " has no tools: no function has a decorator named tool, and no function of the module "
        "is public; use --function to name one"
    )
    return Row(((escape(file), "bold"), (message, "")))


def _summary(result: InferenceResult) -> Row:
    severities = [diagnostic.severity for diagnostic in result.diagnostics]
    errors, warnings = severities.count(Severity.ERROR), severities.count(Severity.WARNING)
    parts = [format_count(len(result.tools), "tool")]
    parts += [format_count(errors, "error")] if errors else []
    parts += [format_count(warnings, "warning")] if warnings else []
    return Row(((", ".join(parts), "bold"),))
