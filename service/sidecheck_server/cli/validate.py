"""`sidecheck validate`: validate payloads offline."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import click

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    excerpts_option,
    form_option,
    format_examples,
    read_documents,
    version_option,
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
from sidecheck_server.cli.rows import escape, is_terminal
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.tool_definitions import find_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.container import Services
from sidecheck_server.services.targets import InlineTool, SubjectKind, Target
from sidecheck_server.services.validation import ValidationOptions

__all__ = ["validate"]

_KINDS: Mapping[str, SubjectKind] = MappingProxyType(
    {
        "arguments": "arguments",
        "structured-content": "structured_content",
        "call-params": "call_params",
        "call-result": "call_result",
    }
)
"""Subjects by name on the command line."""


@click.command(
    epilog=format_examples(
        "sidecheck validate --schema schema.json payload.json",
        "sidecheck validate --tools tools.json --tool git_log call.json --format json",
        "sidecheck validate --tools t.json --tool add --subject call-result res.json",
        "echo '{\"q\": 1}' | sidecheck validate --schema schema.json -",
    )
)
@click.argument("payloads", nargs=-1, required=True, type=FILE, metavar="PAYLOAD...")
@click.option("--schema", type=FILE, metavar="FILE", help="Schema to validate against.")
@click.option(
    "--tools",
    type=FILE,
    metavar="FILE",
    help="Tool definitions: one, a list, or a tools/list result.",
)
@click.option("--tool", metavar="NAME", help="Tool to validate against.")
@click.option(
    "--subject",
    type=click.Choice(list(_KINDS)),
    default="arguments",
    show_default=True,
    help="Kind of payload: part of a call or result, or the whole of it, which requires --tool.",
)
@version_option(f"[default: {DEFAULT_VERSION}]")
@document_option
@click.option(
    "--assert-formats", is_flag=True, help="Assert `format`, which is otherwise an annotation."
)
@click.option(
    "--max-violations",
    type=click.IntRange(1, LIMITS.violations),
    default=20,
    show_default=True,
    help="Maximum number of violations per payload.",
)
@click.option("--hide-values", is_flag=True, help="Omit values of payloads from messages.")
@form_option
@excerpts_option
@click.pass_context
def validate(
    context: click.Context,
    payloads: tuple[str, ...],
    schema: str | None,
    tools: str | None,
    tool: str | None,
    subject: str,
    protocol_version: str | None,
    documents: tuple[tuple[str, str], ...],
    assert_formats: bool,
    max_violations: int,
    hide_values: bool,
    form: str,
    excerpts: bool | None,
) -> None:
    """Validate each PAYLOAD, a JSON file; - reads standard input.

    Arguments are validated against the input schema of the tool, results against its output
    schema, in the form that the protocol version requires.

    Exits with 0 if all payloads are valid, with 1 if there are violations or errors,
    and with 2 if the command is wrong or a file cannot be read.
    """
    if (schema is None) == (tools is None):
        raise click.UsageError("give either --schema or --tools")
    if (tools is None) != (tool is None):
        raise click.UsageError("--tools and --tool belong together")
    inputs = [*payloads, *(name for name in (schema, tools) if name), *(f for _, f in documents)]
    if inputs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    referenced_documents = read_documents(documents)
    definition = read_input(schema or tools or "")
    sources = [Source(name, read_input(name)) for name in payloads]
    kind = _KINDS[subject]
    if tool is None and kind not in ("arguments", "structured_content"):
        raise click.UsageError(f"--subject {subject} needs --tools and --tool")
    options = ValidationOptions(
        EvaluationOptions(max_violations=max_violations, hide_values=hide_values),
        protocol_version or DEFAULT_VERSION,
        assert_formats=assert_formats,
    )

    def create_target() -> Target:
        if tool is None:
            return SchemaSource(definition, referenced_documents)
        return InlineTool(find_tool(definition, tool, LIMITS), referenced_documents)

    outcomes = run_in_process(
        lambda services: _validate(services, create_target, kind, sources, options)
    )
    # Excerpts would show the hidden values.
    _write(form, outcomes, excerpts=False if hide_values else excerpts)
    context.exit(0 if all(outcome.valid for outcome in outcomes) else 1)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of one payload."""

    source: Source
    outcome: Verdict | RequestError

    @property
    def valid(self) -> bool:
        return isinstance(self.outcome, Verdict) and self.outcome.valid

    def findings(self) -> list[Finding]:
        """Return the violations with their positions in the payload."""
        if isinstance(self.outcome, RequestError):
            return []
        return find_violations(self.source, self.outcome.violations)


async def _validate(
    services: Services,
    create_target: Callable[[], Target],
    kind: SubjectKind,
    sources: Sequence[Source],
    options: ValidationOptions,
) -> list[_Outcome]:
    try:
        target = services.prepared_targets.add((b"", b""), create_target(), options)
    except RequestError as error:
        return [_Outcome(source, error) for source in sources]

    async def validate_source(source: Source) -> _Outcome:
        try:
            return _Outcome(source, (await target.validate(kind, source.text)).verdict)
        except RequestError as error:
            return _Outcome(source, error)

    progress = with_progress(sources, len(sources), "Validating payloads")
    return [await validate_source(source) for source in progress]


def _write(form: str, outcomes: Sequence[_Outcome], *, excerpts: bool | None) -> None:
    """Write *outcomes* to standard output; by default with excerpts on a terminal."""
    if form == "json":
        write_output(format_json([_object(outcome) for outcome in outcomes]))
        return
    blocks = [_block(outcome) for outcome in outcomes]
    errors = sum(isinstance(outcome.outcome, RequestError) for outcome in outcomes)
    summary = [format_count(len(outcomes), "payload")]
    findings = [finding for block in blocks for finding in block.findings]
    if findings or not errors:
        summary.append(format_severities(findings))
    if errors:
        summary.append(f"{errors:,} not validated")
    show_excerpts = is_terminal() if excerpts is None else excerpts
    write_blocks(blocks, ", ".join(summary), excerpts=show_excerpts)


def _object(outcome: _Outcome) -> dict[str, Any]:
    verdict = outcome.outcome
    if isinstance(verdict, RequestError):
        violations = [
            {
                "instance_location": violation.instance_location,
                "code": violation.code,
                "message": violation.message,
            }
            for violation in verdict.violations
        ]
        error = {"reason": verdict.reason.value, "message": verdict.message}
        details = {"violations": violations} if violations else {}
        return {"payload": outcome.source.name, "error": {**error, **details}}
    return {
        "payload": outcome.source.name,
        "valid": verdict.valid,
        "truncated": verdict.truncated,
        "violations": [violation_object(finding) for finding in outcome.findings()],
    }


def _block(outcome: _Outcome) -> Block:
    verdict = outcome.outcome
    name = f"{escape(outcome.source.name)}: "
    if isinstance(verdict, RequestError):
        message = escape(f": {verdict.reason.value}: {verdict.message}")
        return Block(((name, "bold"), ("not validated", "bold red"), (message, "")))
    word = ("valid", "bold green") if verdict.valid else ("invalid", "bold red")
    note = "... there may be more; see --max-violations" if verdict.truncated else ""
    return Block(((name, "bold"), word), outcome.findings(), note)
