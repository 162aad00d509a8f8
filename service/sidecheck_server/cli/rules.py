"""`sidecheck rules`: list the rules of the protocol."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import click

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import format_examples, version_option
from sidecheck_server.cli.reports import STYLES, format_count, format_json
from sidecheck_server.cli.rows import Row, write_rows
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE, GROUPS
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.types.errata import ERRATA, Erratum
from sidecheck_server.core.types import Severity

__all__ = ["describe_versions", "rules"]


@click.command(
    epilog=format_examples(
        "sidecheck rules",
        "sidecheck rules --protocol-version 2025-06-18 --format json",
    )
)
@version_option("[default: all]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
)
def rules(protocol_version: str | None, form: str) -> None:
    """List the rules that definitions and messages are checked against.

    Each rule has the code and severity of its violations, its protocol versions, the URL of
    the specification, and the requirement. The markdown format includes the errata of the
    published schemas.
    """
    if form == "markdown":
        write_output(_markdown(protocol_version))
        return
    selected = [
        rule
        for _code, rule in sorted(CATALOGUE.items())
        if protocol_version is None or rule.holds_in(protocol_version)
    ]
    if form == "json":
        write_output(format_json([_object(rule) for rule in selected]))
        return
    write_rows(_rows(selected))


def _object(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "severity": rule.severity.value,
        "protocol_versions": list(rule.versions),
        "spec_url": rule.spec_url(rule.versions[-1]),
        "requirement": rule.requirement,
        "subjects": list(rule.subjects),
    }


_INTRODUCTION = """\
# Rules

Requirements that definitions and messages are checked against, in addition to the published
schemas. An *error* breaks a MUST of the specification or its schema, a *warning* a SHOULD; an
*info* is advice of a model provider. `ProtocolService.ListRules` and `sidecheck rules` list the
same rules.
"""
_ERRATA = """\
## Errata of the published schemas

The published schemas are generated from the `schema.ts` of the specification. Where they differ
from it, or from normative text, Sidecheck checks the following instead.
"""


def _rows(rules: Sequence[Rule]) -> Iterator[Row]:
    """Yield a row for each of *rules*, and a summary."""
    width = max((len(rule.code) for rule in rules), default=0)
    severities = max(map(len, Severity))
    for rule in rules:
        yield Row(
            (
                (f"{rule.code:<{width}}  ", "bold"),
                (f"{rule.severity.value:<{severities}}  ", STYLES[rule.severity]),
                (f"{describe_versions(rule.versions):<{_SPAN_WIDTH}}  ", "cyan"),
                (rule.requirement, ""),
            ),
            wraps=False,
        )
    yield Row(((_count_by_severity(rules), "bold"),))


def _markdown(version: str | None) -> str:
    """Return a document with a table for each group of rules, of *version* or of all."""
    groups = {
        group.value: [rule for rule in rules if version is None or rule.holds_in(version)]
        for group, rules in GROUPS.items()
    }
    parts = [
        _INTRODUCTION,
        f"{_count_by_severity([rule for rules in groups.values() for rule in rules])}.\n",
    ]
    for title, rules in groups.items():
        if rules:
            parts += [f"## {title}\n", _table(rules)]
    errata = [erratum for erratum in ERRATA if version is None or version in erratum.versions]
    if errata:
        parts += [_ERRATA, _table_of_errata(errata)]
    return "\n".join(parts).rstrip("\n")


def _table(rules: Sequence[Rule]) -> str:
    lines = [
        "| code | severity | versions | requirement | specification |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{rule.code}` | {rule.severity.value} | {describe_versions(rule.versions)} "
        f"| {_escape_markdown(rule.requirement)} | {_link(rule)} |"
        for rule in rules
    ]
    return "\n".join(lines) + "\n"


def _table_of_errata(errata: Sequence[Erratum]) -> str:
    lines = [
        "| type | versions | published schema | checked instead | reason |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{'.'.join(filter(None, (erratum.type, erratum.property)))}` "
        f"| {', '.join(erratum.versions)} | {_escape_markdown(erratum.published)} "
        f"| {_escape_markdown(erratum.correct)} | {_escape_markdown(erratum.reason)} |"
        for erratum in errata
    ]
    return "\n".join(lines) + "\n"


def describe_versions(versions: Sequence[str]) -> str:
    """Return a phrase for *versions*, a contiguous range in ascending order."""
    first, last = versions[0], versions[-1]
    if (first, last) == (VERSIONS[0], VERSIONS[-1]):
        return "all"
    if first == last:
        return first
    if last == VERSIONS[-1]:
        return f"since {first}"
    if first == VERSIONS[0]:
        return f"until {last}"
    return f"{first} to {last}"


_SPAN_WIDTH = len(f"{VERSIONS[0]} to {VERSIONS[0]}")


def _link(rule: Rule) -> str:
    clause = rule.clause
    url = clause.url(rule.versions[-1])
    # For a page outside the specification, the host names the provider.
    name = clause.page.partition("://")[2].partition("/")[0] or clause.page
    anchor = f", {clause.anchor}" if clause.anchor and "://" not in clause.page else ""
    return f"[{name}{anchor}]({url})" if "://" in url else name


def _escape_markdown(text: str) -> str:
    for character in "\\|<>*_":
        text = text.replace(character, f"\\{character}")
    return text


def _count_by_severity(rules: Sequence[Rule]) -> str:
    counts = Counter(rule.severity for rule in rules)
    by_severity = ", ".join(
        format_count(counts[severity], noun)
        for severity, noun in (
            (Severity.ERROR, "error"),
            (Severity.WARNING, "warning"),
            (Severity.INFO, "info"),
        )
    )
    return f"{format_count(len(rules), 'rule')}: {by_severity}"
