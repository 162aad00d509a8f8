"""`sidecheck check`: check tool definitions offline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.findings import Finding, Source, Spot, create_findings, find_violations
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    excerpts_option,
    format_examples,
    min_severity_option,
    read_documents,
    version_option,
)
from sidecheck_server.cli.portability import (
    PortabilityOptions,
    read_server_json_verdict,
    target_options,
)
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.cli.reports import (
    Block,
    format_count,
    format_json,
    format_severities,
    violation_object,
    write_blocks,
)
from sidecheck_server.cli.rows import is_terminal
from sidecheck_server.cli.sarif import sarif_log
from sidecheck_server.cli.served_tools import ServerCommand, read_served, server_options
from sidecheck_server.cli.tool_files import list_tools_or_findings
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context
from sidecheck_server.core.mcp.deferred import error_outcome
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.mcp.tool_outcomes import CheckedTool, ToolsList, tool_outcomes
from sidecheck_server.core.portability.check import PortabilityFinding
from sidecheck_server.core.portability.lints import REQUIREMENTS as LINTS
from sidecheck_server.core.types import SEVERITY_RANK, Severity, Verdict, Violation
from sidecheck_server.services.container import Services

__all__ = ["Outcome", "check", "check_sources"]

_NEVER = "never"
_DUPLICATE = "another tool has this name; if both are registered, the last one counts"


@click.command(
    cls=ServerCommand,
    epilog=format_examples(
        "sidecheck check tools.json",
        "sidecheck check tools.json --protocol-version 2026-07-28 --min-severity info",
        "sidecheck check --for openai --for claude-code --fail-on warning tools.json",
        "sidecheck check --for mcp-registry server.json",
        "sidecheck check tools/*.json --format sarif > sidecheck.sarif",
        "my-server --list-tools | sidecheck check -",
        "sidecheck check -- python -m my_server",
        "sidecheck check --url https://mcp.example.com/mcp",
    ),
)
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE...]")
@server_options
@version_option(f"[default: that of the server, or {DEFAULT_VERSION}]")
@target_options
@min_severity_option
@click.option(
    "--fail-on",
    type=click.Choice([*(severity.value for severity in Severity), _NEVER]),
    default=Severity.ERROR.value,
    show_default=True,
    help="Minimum severity of a violation that makes the exit code 1.",
)
@document_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
)
@excerpts_option
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    url: str | None,
    headers: tuple[str, ...],
    server_timeout: float,
    protocol_version: str | None,
    targets: tuple[str, ...],
    server: str,
    min_severity: str,
    fail_on: str,
    documents: tuple[tuple[str, str], ...],
    form: str,
    excerpts: bool | None,
) -> None:
    """Check the tool definitions in each FILE, or those of a running MCP server.

    The server is a COMMAND, which is started, or is reached by --url. A file contains one
    definition, a list of definitions, or a tools/list result, with or without its JSON-RPC
    response; - reads standard input. All rules of the protocol version for tools apply, as to a
    response that lists them, and a tools/list result is checked as a whole too. Registration
    reads definitions more leniently. Both schemas of each tool are compiled, with the default
    limits of a server. With --for, what clients, model APIs and directories refuse is reported
    too. A server.json of the MCP registry is checked by the schema of the registry.

    Exits with 0 if there is no violation of the severity of --fail-on or above, with 1 if
    there is one, and with 2 if the command is wrong or a file cannot be read. A schema that
    cannot be compiled is an error, as for registration.
    """
    if [*files, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    fails_on = None if fail_on == _NEVER else Severity(fail_on)
    if fails_on and SEVERITY_RANK[fails_on] > SEVERITY_RANK[Severity(min_severity)]:
        raise click.UsageError(
            f"--fail-on {fail_on} needs --min-severity {fail_on}: less severe violations are not "
            "reported"
        )
    served = read_served(context, url, headers, server_timeout, protocol_version)
    if not files and served is None:
        raise click.UsageError("give a FILE, --url, or the command of a server after --")
    version = protocol_version or (served.version if served else "") or DEFAULT_VERSION
    portability = PortabilityOptions.parse(targets, server, Severity(min_severity))
    request_context = Context(
        version=version, documents=read_documents(documents), to_be_registered=True
    )
    sources, unreadable = _read(files)
    sources += [served.source] if served else []
    report_limits = ReportLimits(
        LIMITS.violations, LIMITS.verdict_characters, Severity(min_severity)
    )
    outcomes = run_in_process(
        lambda services: check_sources(
            services, sources, request_context, report_limits, portability
        )
    )
    _write(form, version, sources, outcomes, unreadable, excerpts=excerpts)
    for message in unreadable:
        click.echo(f"Error: {message}", err=True)
    fails = fails_on is not None and any(outcome.reaches(fails_on) for outcome in outcomes)
    context.exit(2 if unreadable else 1 if fails else 0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one tool, or of a file apart from its tools."""

    source: Source
    #: Name of the tool, or "" if it has none.
    name: str
    ok: bool
    findings: tuple[Finding, ...]
    #: Whether this is the outcome of a tool.
    is_tool: bool = True
    #: Findings of portability, by their violations.
    portability: Mapping[Violation, PortabilityFinding | None] = field(default_factory=dict)

    def reaches(self, severity: Severity) -> bool:
        """Return whether a violation is of *severity* or above; a failure always is."""
        max_rank = SEVERITY_RANK[severity]
        return not self.ok or any(
            SEVERITY_RANK[finding.violation.severity] <= max_rank for finding in self.findings
        )

    def as_object(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return {
            "file": self.source.name,
            "name": self.name,
            "ok": self.ok,
            "violations": [
                _violation_object(finding, self.portability.get(finding.violation))
                for finding in self.findings
            ],
        }


async def check_sources(
    services: Services,
    sources: Sequence[Source],
    context: Context,
    report_limits: ReportLimits,
    portability: PortabilityOptions,
) -> list[Outcome]:
    """Return an outcome for each tool of *sources*, in order.

    If the list around the tools of a source has violations, its outcome follows those of its
    tools.
    """

    async def check_request(request: CheckRequest) -> CheckReport:
        try:
            return await services.protocol_checker.check(request)
        except RequestError as error:
            return error_outcome(request, error)

    lists = [
        (source, verdict if verdict is not None else list_tools_or_findings(source, LIMITS))
        for source in sources
        for verdict in [read_server_json_verdict(source.text)]
    ]
    texts = [
        tool.json
        for _source, tools_list in lists
        if isinstance(tools_list, ToolsList)
        for tool in tools_list.tools
    ]
    requests = (
        CheckRequest(ToolJson(text, canonical=False), context, report_limits) for text in texts
    )
    results = iter(
        [
            await check_request(request)
            for request in with_progress(requests, len(texts), "Checking tools")
        ]
    )
    outcomes: list[Outcome] = []
    for source, tools_list in lists:
        if isinstance(tools_list, Verdict):
            findings = tuple(find_violations(source, tools_list.violations))
            outcomes.append(Outcome(source, "", tools_list.valid, findings, is_tool=False))
            continue
        if not isinstance(tools_list, ToolsList):
            findings = tuple(tools_list)
            outcomes.append(Outcome(source, "", ok=False, findings=findings, is_tool=False))
            continue
        reports = [next(results) for _tool in tools_list.tools]
        pointers = (tool.pointer for tool in tools_list.tools)
        tools = tuple(tool_outcomes(reports, pointers, _DUPLICATE))
        findings_by_tool = [portability.check(tool.json) for tool in tools_list.tools]
        outcomes += _tool_outcomes(source, tools, findings_by_tool)
        container = tools_list.container
        if container is not None:
            container_report = await check_request(CheckRequest(container, context, report_limits))
            outcomes += _container_outcome(source, container_report)
    return outcomes


def _tool_outcomes(
    source: Source,
    tools: Sequence[CheckedTool],
    portability: Sequence[Mapping[Violation, PortabilityFinding | None]],
) -> list[Outcome]:
    violations = [
        [*tool.verdict.violations, *tool_portability]
        for tool, tool_portability in zip(tools, portability, strict=True)
    ]
    # One pass over the source finds the positions of all violations.
    spots = [
        Spot(violation, tool.pointer + violation.instance_location, tool.name)
        for tool, tool_violations in zip(tools, violations, strict=True)
        for violation in tool_violations
    ]
    findings = iter(create_findings(source, spots))
    return [
        Outcome(
            source,
            tool.name,
            tool.ok
            and all(violation.severity is not Severity.ERROR for violation in tool_portability),
            tuple(next(findings) for _violation in tool_violations),
            portability=tool_portability,
        )
        for tool, tool_violations, tool_portability in zip(
            tools, violations, portability, strict=True
        )
    ]


def _container_outcome(source: Source, report: CheckReport) -> list[Outcome]:
    """Return the outcome of the list around *source*'s tools, if it has violations."""
    findings = find_violations(source, report.findings.verdict().violations)
    ok = not report.findings.has_errors
    return [Outcome(source, "", ok, tuple(findings), is_tool=False)] if findings else []


def _violation_object(finding: Finding, portability: PortabilityFinding | None) -> dict[str, Any]:
    code = finding.violation.code
    rule = CATALOGUE.get(code)
    requirement = rule.requirement if rule else LINTS.get(code, "")
    shown = {**violation_object(finding), "requirement": requirement}
    if portability is None:
        return shown
    targets = [
        {
            "target": fact.target.value,
            "effect": fact.effect.name,
            "source": fact.source.reference,
            "date": fact.source.date,
        }
        for fact in portability.facts
    ]
    return {**shown, "requirement": portability.hazard.requirement, "targets": targets}


def _read(files: Sequence[str]) -> tuple[list[Source], list[str]]:
    """Return the readable files, and the error messages of the unreadable ones."""
    sources, unreadable = [], []
    for name in dict.fromkeys(files):
        try:
            sources.append(Source(name, read_input(name)))
        except click.UsageError as error:
            if len(files) == 1:
                raise
            unreadable.append(error.message)
    return sources, unreadable


def _write(
    form: str,
    version: str,
    sources: Sequence[Source],
    outcomes: Sequence[Outcome],
    unreadable: Sequence[str],
    *,
    excerpts: bool | None,
) -> None:
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    if form == "json":
        write_output(format_json([outcome.as_object() for outcome in outcomes]))
    elif form == "sarif":
        names = [source.name for source in sources]
        write_output(format_json(sarif_log(names, findings, unreadable, version)))
    else:
        tools = format_count(sum(outcome.is_tool for outcome in outcomes), "tool")
        write_blocks(
            [Block(findings=outcome.findings) for outcome in outcomes],
            f"{tools}, {format_severities(findings)}",
            excerpts=is_terminal() if excerpts is None else excerpts,
        )
