"""Findings in SARIF 2.1.0, the format of code scanners and editors (OASIS, 2020)."""

import json
import os
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from rich.cells import cell_len

from sidecheck_server import __version__
from sidecheck_server.cli.findings import Finding
from sidecheck_server.cli.rows import Row
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.types import Severity

__all__ = [
    "excerpt_rows",
    "sarif_location",
    "sarif_log",
    "sarif_run",
]

_CUT = "..."
_TAB = "    "
_BYTES_OF_A_CHARACTER = 4
"""Maximum size of a character in UTF-8, in bytes (RFC 3629, section 3)."""


def excerpt_rows(finding: Finding, width: int, style: str) -> list[Row]:
    """Return rows of at most *width* cells that mark the position of *finding*.

    What cannot be printed is escaped, and a long line is cut around the place.
    """
    number = str(finding.place.line)
    gutter = len(number) + 4
    before, marked, after = _parts(finding, width)
    room = max(width - gutter, 20)
    # A place that begins far to the right keeps a third of the room before it.
    if len(before) and _cells(before) + _cells(marked) + _cells(after) > room:
        before = _last(before, max(room // 3, room - _cells(marked) - _cells(after)))
    rest = _first([*marked, *after], room - _cells(before))
    indent = " " * _cells(before)
    mark = "^" + "~" * (min(_cells(marked), _cells(rest)) - 1)
    edge = (" " * (len(number) + 2) + "| ", "cyan")
    return [
        Row((edge,), wraps=False),
        Row(
            ((f" {number} | ", "cyan"), ("".join([*before, *rest]), "")),
            wraps=False,
        ),
        Row((edge, (indent, ""), (mark, style)), wraps=False),
    ]


def _parts(finding: Finding, width: int) -> tuple[list[str], list[str], list[str]]:
    """Return the source line before, at and after the position of *finding*.

    Each is a list of characters as they are shown, and bounded by *width*.
    """
    text, place = finding.source.text, finding.place
    window = width * _BYTES_OF_A_CHARACTER
    begin = text.rfind(b"\n", max(place.start - window, 0), place.start) + 1
    begin = begin or max(place.start - window, 0)
    stop = text.find(b"\n", place.start, place.start + 2 * window)
    stop = stop if stop >= 0 else min(place.start + 2 * window, len(text))
    end = min(place.end, stop)
    if text[begin:stop].endswith(b"\r"):
        stop -= 1
        end = min(end, stop)
    return (
        _shown(text[begin : place.start]),
        _shown(text[place.start : end]),
        _shown(text[end:stop]),
    )


def _shown(part: bytes) -> list[str]:
    decoded = part.decode("utf-8", "surrogateescape")
    # Of a character that the window cuts in two, nothing is shown.
    return [_escaped(each) for each in decoded.strip("\ufeff")]


def _escaped(character: str) -> str:
    if character == "\t":
        return _TAB
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _cells(shown: list[str]) -> int:
    return sum(map(cell_len, shown))


def _first(shown: list[str], room: int) -> list[str]:
    """Return the first characters that fit in *room* cells, with an ellipsis if some do not."""
    if _cells(shown) <= room:
        return shown
    kept: list[str] = []
    left = room - len(_CUT)
    for each in shown:
        left -= cell_len(each)
        if left < 0:
            break
        kept.append(each)
    return [*kept, _CUT] if room >= len(_CUT) else []


def _last(shown: list[str], room: int) -> list[str]:
    return _first(shown[::-1], room)[::-1]


_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif_log(
    names: Sequence[str], findings: Sequence[Finding], unreadable: Sequence[str], version: str
) -> dict[str, Any]:
    """Return the log of one run over the files *names*, by the rules of *version*.

    *unreadable* is that of `sarif_run`.
    """
    return sarif_run(names, findings, unreadable, lambda code: _rule(code, version))


def sarif_run(
    names: Sequence[str],
    findings: Sequence[Finding],
    unreadable: Sequence[str],
    describe_rule: Callable[[str], dict[str, Any]],
) -> dict[str, Any]:
    """Return the log of one run over the files *names*.

    *unreadable* has the messages of files that could not be read, which make the run
    unsuccessful (SARIF, section 3.20.14). *describe_rule* returns the reporting descriptor
    of a code.
    """
    codes = list(dict.fromkeys(finding.violation.code for finding in findings))
    invocation: dict[str, Any] = {"executionSuccessful": not unreadable}
    if unreadable:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": message}} for message in unreadable
        ]
    run = {
        "tool": {
            "driver": {
                "name": "sidecheck",
                "version": __version__,
                "rules": [_complete(describe_rule(code)) for code in codes],
            }
        },
        "invocations": [invocation],
        "artifacts": [{"location": {"uri": _uri(name)}} for name in names],
        # Section 3.14.17: unit of columns.
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes, names) for finding in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _complete(rule: dict[str, Any]) -> dict[str, Any]:
    """Return *rule* with the texts that code scanning of GitHub requires of one."""
    text = rule["shortDescription"]["text"]
    help_text = f"{text} See {rule['helpUri']}" if "helpUri" in rule else text
    return {**rule, "fullDescription": {"text": text}, "help": {"text": help_text}}


def _rule(code: str, version: str) -> dict[str, Any]:
    rule = CATALOGUE.get(code)
    if rule is None:
        words = code.replace("_", " ").lower()
        return {"id": code, "shortDescription": {"text": f"{words[:1].upper()}{words[1:]}."}}
    spec_url = rule.spec_url(version)
    described: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": rule.requirement},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"spec_url": spec_url},
    }
    # Section 3.49.12: URL of the documentation of the rule.
    return {**described, "helpUri": spec_url} if "://" in spec_url else described


def _result(finding: Finding, codes: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    tool = f"{finding.tool}: " if finding.tool else ""
    spec_url = finding.violation.spec_url
    properties = {"properties": {"spec_url": spec_url}} if spec_url else {}
    return {
        **properties,
        "ruleId": finding.violation.code,
        "ruleIndex": codes.index(finding.violation.code),
        "level": _LEVELS[finding.violation.severity],
        "message": {"text": tool + finding.violation.message},
        "locations": [sarif_location(finding, names)],
    }


def sarif_location(finding: Finding, names: Sequence[str]) -> dict[str, Any]:
    """Return where *finding* is, in one of the files *names*."""
    place = finding.place
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    return {
        "physicalLocation": {
            "artifactLocation": {
                "uri": _uri(finding.source.name),
                "index": names.index(finding.source.name),
            },
            "region": region,
        },
        # Section 3.33.5: the fully qualified name of a JSON value is its pointer.
        "logicalLocations": [{"fullyQualifiedName": finding.pointer, "kind": "value"}],
    }


def _uri(name: str) -> str:
    """Return the URI reference (RFC 3986) of the file *name*."""
    path = quote(os.fsencode(name))
    return f"file://{path}" if name.startswith("/") else path
