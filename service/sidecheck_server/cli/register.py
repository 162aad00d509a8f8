"""`sidecheck tools register`: register the tools in files with a running server."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import click
import sidecheck
from sidecheck import ChangePolicy, CompatibilityPolicy, ToolDefinition

from sidecheck_server.cli.connection import connect
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.findings import Finding, Source, Spot, create_findings
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    excerpts_option,
    form_option,
    format_examples,
    read_documents,
    target_option,
    timeout_option,
    version_option,
)
from sidecheck_server.cli.reports import (
    Block,
    format_count,
    format_json,
    format_severities,
    violation_object,
    write_blocks,
)
from sidecheck_server.cli.rows import Part, escape, is_terminal
from sidecheck_server.cli.served_tools import (
    ServerCommand,
    read_served,
    read_sources,
    server_options,
)
from sidecheck_server.cli.tls_options import tls_options
from sidecheck_server.cli.tool_files import list_or_exit
from sidecheck_server.config.addresses import ClientTls
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_outcomes import ListedTool
from sidecheck_server.core.types import Severity, Violation

__all__ = ["register"]

_STYLES = {"rejected": "bold red", "kept": "bold red", "unchanged": ""}


@click.command(
    cls=ServerCommand,
    epilog=format_examples(
        "sidecheck tools register tools.json --server git",
        "sidecheck tools register *.json --server git --change-policy reject",
        "my-server --list-tools | sidecheck tools register - --server mine",
        "sidecheck tools register --server mine -- python -m my_server",
    ),
)
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE...]")
@server_options
@click.option("--server", required=True, metavar="NAME", help="Server namespace of the tools.")
@click.option("--replace", is_flag=True, help="Remove the other tools of the server.")
@click.option("--validate-only", is_flag=True, help="Check the tools without registering them.")
@click.option(
    "--change-policy",
    type=click.Choice(["accept", "report", "reject"]),
    default="accept",
    show_default=True,
    help="Treatment of a tool that is registered with another definition; report warns.",
)
@click.option(
    "--compatibility",
    type=click.Choice(["ignore", "report", "reject-breaking", "reject-undecided"]),
    default="ignore",
    show_default=True,
    help="Treatment of a tool whose change breaks, or possibly breaks (undecided), the callers of "
    "the registered definition; report warns. Rejecting also keeps tools that --replace would "
    "remove.",
)
@version_option("[default: that of the server]")
@document_option
@target_option
@timeout_option(30.0)
@tls_options("TARGET")
@form_option
@excerpts_option
@click.pass_context
def register(
    context: click.Context,
    files: tuple[str, ...],
    url: str | None,
    headers: tuple[str, ...],
    server_timeout: float,
    server: str,
    replace: bool,
    validate_only: bool,
    change_policy: ChangePolicy,
    compatibility: CompatibilityPolicy,
    protocol_version: str | None,
    documents: tuple[tuple[str, str], ...],
    target: str,
    timeout: float,
    tls: ClientTls | None,
    form: str,
    excerpts: bool | None,
) -> None:
    """Register the tools in each FILE for one server; - reads standard input.

    In place of files, tools of a running MCP server are read: of a COMMAND, which is
    started, or of --url.

    Tools are checked independently: those without an error are registered. Exits with 1
    if one is rejected, or kept by --compatibility. If a file has no tools, the command exits
    with 2 and registers nothing.
    """
    if [*files, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    referenced_documents = [
        sidecheck.Document(item.uri, item.json) for item in read_documents(documents)
    ]
    served = read_served(context, url, headers, server_timeout, protocol_version)
    tools = _read_tools(read_sources(files, served))
    with connect(target, timeout, tls) as client:
        registration = client.register(
            server,
            [ToolDefinition(tool.json, tuple(referenced_documents)) for _, tool in tools],
            replace=replace,
            change_policy=change_policy,
            compatibility=compatibility,
            validate_only=validate_only,
            protocol_version=protocol_version or "",
            # All outcomes are printed, and the exit code says whether one is a rejection.
            on_rejected="return",
            timeout=timeout,
        )
    outcomes = _outcomes(tools, registration.outcomes)
    _write(form, registration, outcomes, validate_only=validate_only, excerpts=excerpts)
    has_rejected = any(outcome.action == "rejected" for outcome in outcomes)
    context.exit(1 if has_rejected or registration.kept else 0)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of one definition."""

    source: Source
    name: str
    action: str
    findings: tuple[Finding, ...]
    definition_digest: str
    previous_definition_digest: str

    def as_object(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return {
            "file": self.source.name,
            "name": self.name,
            "action": self.action,
            "violations": [violation_object(finding) for finding in self.findings],
            "definition_digest": self.definition_digest,
            "previous_definition_digest": self.previous_definition_digest,
        }


def _read_tools(sources: Sequence[Source]) -> list[tuple[Source, ListedTool]]:
    """Return the tools of *sources*, each with its source.

    Raises:
        click.ClickException: a source has no tools; exit code 2.
    """
    lists = [(source, list_or_exit(source.name, source.text, Limits())) for source in sources]
    return [(source, tool) for source, tools in lists for tool in tools]


def _outcomes(
    tools: Sequence[tuple[Source, ListedTool]], outcomes: Sequence[sidecheck.RegistrationOutcome]
) -> list[_Outcome]:
    # Grouped by source, because one pass over a source finds the positions of all violations.
    pairs = zip(tools, outcomes, strict=True)
    return [
        outcome
        for _, group in groupby(pairs, key=lambda pair: id(pair[0][0]))
        for outcome in _outcomes_of_source(list(group))
    ]


def _outcomes_of_source(
    pairs: Sequence[tuple[tuple[Source, ListedTool], sidecheck.RegistrationOutcome]],
) -> list[_Outcome]:
    source = pairs[0][0][0]
    spots = [
        Spot(_violation(violation), tool.pointer + violation.instance_location, outcome.name)
        for (_, tool), outcome in pairs
        for violation in outcome.violations
    ]
    findings = iter(create_findings(source, spots))
    return [
        _Outcome(
            source,
            outcome.name,
            outcome.action.value,
            tuple(next(findings) for _ in outcome.violations),
            outcome.definition_digest,
            outcome.previous_definition_digest,
        )
        for _, outcome in pairs
    ]


def _violation(violation: sidecheck.Violation) -> Violation:
    return Violation(
        violation.instance_location,
        violation.keyword_location,
        violation.keyword,
        violation.code,
        violation.message,
        Severity(violation.severity.value),
        violation.suggestion,
        violation.spec_url,
    )


def _write(
    form: str,
    registration: sidecheck.Registration,
    outcomes: Sequence[_Outcome],
    *,
    validate_only: bool,
    excerpts: bool | None,
) -> None:
    if form == "json":
        output = {
            "outcomes": [outcome.as_object() for outcome in outcomes],
            "removed": list(registration.removed),
            "kept": list(registration.kept),
            "registry_revision": registration.registry_revision,
        }
        write_output(format_json(output))
        return
    blocks = [
        Block(_heading(outcome.action, outcome.name or "(no name)"), outcome.findings)
        for outcome in outcomes
    ]
    blocks += [Block(_heading("removed", name)) for name in registration.removed]
    blocks += [Block(_heading("kept", name)) for name in registration.kept]
    actions = Counter(outcome.action for outcome in outcomes)
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    removed_count, kept_count = len(registration.removed), len(registration.kept)
    summary = [
        format_count(len(outcomes), "tool"),
        *(f"{number:,} {action}" for action, number in sorted(actions.items())),
        *([f"{removed_count:,} removed"] if removed_count else []),
        *([f"{kept_count:,} kept, since removing them breaks callers"] if kept_count else []),
        *([format_severities(findings)] if findings else []),
        *(["nothing was registered (--validate-only)"] if validate_only else []),
    ]
    show_excerpts = is_terminal() if excerpts is None else excerpts
    write_blocks(blocks, ", ".join(summary), excerpts=show_excerpts)


def _heading(action: str, name: str) -> tuple[Part, ...]:
    return ((f"{action:<9}  ", _STYLES.get(action, "bold green")), (escape(name), "bold"))
