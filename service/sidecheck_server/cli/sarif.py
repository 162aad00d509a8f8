"""Findings in SARIF 2.1.0, the format that code scanners and editors read (OASIS, 2020)."""

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from sidecheck_server import __version__
from sidecheck_server.cli.findings import Finding
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.types import Severity

__all__ = ["sarif_log"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif_log(
    names: Sequence[str], findings: Sequence[Finding], unread: Sequence[str], version: str
) -> dict[str, Any]:
    """Return the log of one run over the files *names*, by the rules of *version*.

    *unread* says of files why they could not be read; the run is then no success
    (SARIF, section 3.20.14).
    """
    codes = list(dict.fromkeys(finding.violation.code for finding in findings))
    invocation: dict[str, Any] = {"executionSuccessful": not unread}
    if unread:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": said}} for said in unread
        ]
    run = {
        "tool": {
            "driver": {
                "name": "sidecheck",
                "version": __version__,
                "rules": [_rule(code, version) for code in codes],
            }
        },
        "invocations": [invocation],
        "artifacts": [{"location": {"uri": _uri(name)}} for name in names],
        # Section 3.14.17: what columns count.
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes, names) for finding in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, version: str) -> dict[str, Any]:
    rule = CATALOGUE.get(code)
    if rule is None:
        words = code.replace("_", " ").lower()
        return {"id": code, "shortDescription": {"text": f"{words[:1].upper()}{words[1:]}."}}
    clause = rule.clause.at(version)
    described: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": rule.sentence},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"clause": clause},
    }
    # Section 3.49.12: the address of what documents the rule.
    return {**described, "helpUri": clause} if "://" in clause else described


def _result(finding: Finding, codes: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    place = finding.place
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    tool = f"{finding.tool}: " if finding.tool else ""
    clause = finding.violation.clause
    properties = {"properties": {"clause": clause}} if clause else {}
    return {
        **properties,
        "ruleId": finding.violation.code,
        "ruleIndex": codes.index(finding.violation.code),
        "level": _LEVELS[finding.violation.severity],
        "message": {"text": tool + finding.violation.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": _uri(finding.source.name),
                        "index": names.index(finding.source.name),
                    },
                    "region": region,
                },
                # Section 3.33.5: in JSON, a value's full name is the pointer to it.
                "logicalLocations": [{"fullyQualifiedName": finding.pointer, "kind": "value"}],
            }
        ],
    }


def _uri(name: str) -> str:
    """Return the reference (RFC 3986) to the file *name*, the bytes of which it may be."""
    path = quote(os.fsencode(name))
    return f"file://{path}" if name.startswith("/") else path
