"""Findings in SARIF 2.1.0, the format of code scanners (OASIS, 2020)."""

import os
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from sidecheck_server import __version__
from sidecheck_server.cli.findings import Finding
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.portability.lints import REQUIREMENTS as LINTS
from sidecheck_server.core.portability.targets import REQUIREMENTS
from sidecheck_server.core.types import Severity

__all__ = ["sarif_location", "sarif_log", "sarif_run"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif_log(
    names: Sequence[str], findings: Sequence[Finding], unreadable: Sequence[str], version: str
) -> dict[str, Any]:
    """Return the log of one run over the files *names*, by the rules of *version*.

    For *unreadable*, see `sarif_run`.
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
    """Return *rule* with the texts that GitHub code scanning requires."""
    text = rule["shortDescription"]["text"]
    help_text = f"{text} See {rule['helpUri']}" if "helpUri" in rule else text
    return {**rule, "fullDescription": {"text": text}, "help": {"text": help_text}}


def _rule(code: str, version: str) -> dict[str, Any]:
    rule = CATALOGUE.get(code)
    if rule is None:
        words = code.replace("_", " ").lower()
        text = REQUIREMENTS.get(code) or LINTS.get(code) or f"{words[:1].upper()}{words[1:]}."
        return {"id": code, "shortDescription": {"text": text}}
    spec_url = rule.spec_url(version)
    descriptor: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": rule.requirement},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"spec_url": spec_url},
    }
    # Section 3.49.12: URL of the documentation of the rule.
    return {**descriptor, "helpUri": spec_url} if "://" in spec_url else descriptor


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
    """Return the location of *finding* in one of the files *names*."""
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
