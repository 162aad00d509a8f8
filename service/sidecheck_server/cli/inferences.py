"""What `sidecheck infer` says: definitions as JSON, and diagnostics as compilers tell them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from sidecheck_server.cli.excerpts import excerpt_rows
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.findings import Finding, Place, Source
from sidecheck_server.cli.reports import STYLES, counted, in_json
from sidecheck_server.cli.rows import Row, page_width, printable, write_rows
from sidecheck_server.core.infer.words import Diagnostic, Inferred, InferredTool
from sidecheck_server.core.types import Severity, Violation

__all__ = ["write_inferred"]

_END_OF_LINE = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def write_inferred(form: str, file: str, text: bytes, inferred: Inferred) -> bool:
    """Write what the *text* of *file* gave, and return whether nothing is an error."""
    if form == "json":
        whole = {
            "tools": [_tool_object(one) for one in inferred.tools],
            "diagnostics": [_diagnostic_object(one) for one in inferred.diagnostics],
        }
        write_output(in_json(whole))
    else:
        write_output(in_json([json.loads(one.json) for one in inferred.tools]))
        if inferred.diagnostics:
            write_rows([*_rows(Source(file, text), inferred), _summary(inferred)], aside=True)
        elif not inferred.tools:
            write_rows([_none(file)], aside=True)
    return not any(one.severity is Severity.ERROR for one in inferred.diagnostics)


def _tool_object(tool: InferredTool) -> dict[str, Any]:
    return {
        "function": tool.function,
        "line": tool.line,
        "digest": tool.digest,
        "definition": json.loads(tool.json),
    }


def _diagnostic_object(found: Diagnostic) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": found.severity.value,
        "message": found.message,
        "line": found.place.line,
        "column": found.place.column,
        "end_line": found.place.end_line,
        "end_column": found.place.end_column,
        "function": found.function,
        "parameter": found.parameter,
    }


def _rows(source: Source, inferred: Inferred) -> Iterator[Row]:
    width = page_width(aside=True)
    starts = [0, *(each.end() for each in _END_OF_LINE.finditer(source.text))]
    for found in inferred.diagnostics:
        style = STYLES[found.severity]
        place = found.place
        at = f"{printable(source.name)}:"
        at += f"{place.line}:{place.column}:" if place.line else ""
        said = printable(found.message)
        yield Row(
            (
                (f"{at} ", "bold"),
                (f"{found.severity.value} ", style),
                (found.code, "bold"),
                (f" {said}", ""),
            ),
            wraps=False,
        )
        if place.line:
            yield from excerpt_rows(_finding(source, found, starts), width, style)


def _finding(source: Source, found: Diagnostic, starts: list[int]) -> Finding:
    place = found.place
    start = _offset(source.text, starts, place.line, place.column)
    end = _offset(source.text, starts, place.end_line, place.end_column)
    return Finding(
        source,
        "",
        "",
        Violation("", "", "", found.code, found.message, found.severity),
        Place(start, end, place.line, place.column, place.end_line, place.end_column),
    )


def _offset(text: bytes, starts: list[int], line: int, column: int) -> int:
    """Return the byte at which a column, in characters from 1, begins."""
    start = starts[min(line, len(starts)) - 1]
    if line == 1 and text.startswith(_BYTE_ORDER_MARK):
        start += len(_BYTE_ORDER_MARK)
    end = starts[line] if line < len(starts) else len(text)
    before = text[start:end].decode("utf-8", "surrogateescape")[: column - 1]
    return start + len(before.encode("utf-8", "surrogateescape"))


def _none(file: str) -> Row:
    """Return what is said where nothing is wrong, and nothing was found."""
    said = (
        " has no tools: none of its functions has a decorator called tool, and none at the "
        "top is public; --function names others"
    )
    return Row(((printable(file), "bold"), (said, "")))


def _summary(inferred: Inferred) -> Row:
    severities = [one.severity for one in inferred.diagnostics]
    errors, warnings = severities.count(Severity.ERROR), severities.count(Severity.WARNING)
    told = [counted(len(inferred.tools), "tool")]
    told += [counted(errors, "error")] if errors else []
    told += [counted(warnings, "warning")] if warnings else []
    return Row(((", ".join(told), "bold"),))
