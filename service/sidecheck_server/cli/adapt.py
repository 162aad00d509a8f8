"""`sidecheck adapt`: adapt tool definitions to a protocol version or to all targets, offline."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import click

from sidecheck_server.cli.conversion_reports import (
    Report,
    ReportedTool,
    check_mappings_file,
    mappings_json,
    mappings_option,
    write_report,
)
from sidecheck_server.cli.files import read_input, write_file, write_output
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import FILE, form_option, format_examples, version_option
from sidecheck_server.cli.reports import format_count, format_json
from sidecheck_server.cli.rows import Row, escape, write_rows
from sidecheck_server.cli.tool_files import list_or_exit
from sidecheck_server.core.convert.converted_tool import ConvertedTool
from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS, portable_provider
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.functions import make_portable
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.tool_definitions import read_tool_name
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.portability.proof import Outcome
from sidecheck_server.core.portability.target import TOOL_TARGETS
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.container import Services
from sidecheck_server.services.targets import InlineTool

__all__ = ["adapt"]


@click.command(
    epilog=format_examples(
        "sidecheck infer server.py | sidecheck adapt --protocol-version 2025-06-18 -",
        "sidecheck adapt --protocol-version 2026-07-28 tools.json",
        "sidecheck adapt --portable --mappings-out mappings.json tools.json",
        "sidecheck adapt --portable --for openai --for anthropic tools.json",
        "sidecheck adapt --portable --prove tools.json",
    )
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@version_option(f"[default: {DEFAULT_VERSION}]")
@click.option(
    "--portable",
    is_flag=True,
    help="Rewrite the definitions so that clients and model APIs accept them unchanged.",
)
@click.option(
    "--for",
    "targets",
    type=click.Choice(sorted(target.value for target in TOOL_TARGETS)),
    multiple=True,
    metavar="TARGET",
    help="With --portable, client or model API that must accept the definitions, as in "
    "`sidecheck check --for`. May be repeated.  [default: all but openai-strict]",
)
@click.option(
    "--prove",
    is_flag=True,
    help="With --portable, compare each definition with its original, as `sidecheck diff` does, "
    "and report whether it accepts the same calls.",
)
@form_option
@mappings_option
@click.pass_context
def adapt(
    context: click.Context,
    files: tuple[str, ...],
    protocol_version: str | None,
    portable: bool,
    targets: tuple[str, ...],
    prove: bool,
    form: str,
    mappings_out: str | None,
) -> None:
    """Adapt the tool definitions in each FILE to a protocol version.

    A file contains one definition, a list of definitions, or a tools/list result, with or
    without its JSON-RPC response; - reads standard input. Properties that the version does
    not have are dropped. For versions before 2026-07-28, an output schema whose root is not
    an object is wrapped in an object; since then it is unwrapped.

    With --portable, schemas are rewritten too: another dialect becomes 2020-12, references,
    unions at the root and patterns that a target refuses are replaced, names shortened. A
    constraint that the rewritten schema cannot express moves to the description, and each
    loss says whether the definition still accepts the same arguments. `sidecheck
    convert-call` converts calls back with the mappings. With --prove, each definition is then
    compared with its original: it is equivalent, wider, or undecided with the reason. If it is
    narrower, the original accepts a call that it rejects, which only openai-strict may cause.

    The definitions are written to standard output as a JSON array, the changes to standard
    error. With --format json both are one object on standard output.

    Exits with 0 if all definitions were adapted, with 1 if one cannot be read or is narrower by
    --prove, and with 2 if the command is wrong or a file cannot be read or has no tools.
    """
    if files.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    if not portable and (targets or mappings_out or prove):
        raise click.UsageError("--for, --prove and --mappings-out need --portable")
    check_mappings_file(mappings_out)
    version = protocol_version or DEFAULT_VERSION
    sources = [
        (name, tool.json)
        for name in dict.fromkeys(files)
        for tool in list_or_exit(name, read_input(name), LIMITS)
    ]
    if portable:
        report = _make_portable(sources, targets or DEFAULT_TARGETS, version)
        if prove:
            texts, unproved = [text for _file, text in sources], report
            report = run_in_process(lambda services: _prove(services, texts, unproved, version))
        if mappings_out is not None:
            write_file(mappings_out, mappings_json(report))
        write_report(form, report)
        is_narrower = any(proof.outcome is Outcome.NARROWER for _, proof in report.proofs())
        context.exit(0 if report.ok and not is_narrower else 1)
    tools = [InlineTool(text) for _file, text in sources]
    outcomes = run_in_process(lambda services: _adapt(services, tools, version))
    names = [read_tool_name(tool.json, LIMITS) for tool in tools]
    _write(form, version, names, outcomes)
    context.exit(1 if any(isinstance(outcome, RequestError) for outcome in outcomes) else 0)


def _make_portable(
    sources: Sequence[tuple[str, bytes]], targets: Iterable[str], version: str
) -> Report:
    """Return the report on *sources*, pairs of file name and definition."""
    outcomes = make_portable([text for _file, text in sources], targets, version, limits=LIMITS)
    tools = tuple(
        ReportedTool(file, read_tool_name(text, LIMITS), outcome)
        for (file, text), outcome in zip(sources, outcomes, strict=True)
    )
    return Report(portable_provider(targets), tools, Verdict())


async def _prove(
    services: Services, definitions: Sequence[bytes], report: Report, version: str
) -> Report:
    """Return *report* on *definitions* with a proof for each converted tool."""
    tools = []
    for text, tool in zip(definitions, report.tools, strict=True):
        if isinstance(tool.outcome, ConvertedTool):
            proof = await services.prover.prove(InlineTool(text), tool.outcome, version)
            tools.append(replace(tool, proof=proof))
        else:
            tools.append(tool)
    return replace(report, tools=tuple(tools))


async def _adapt(
    services: Services, tools: Sequence[InlineTool], version: str
) -> list[AdaptedTool | RequestError]:
    outcomes: list[AdaptedTool | RequestError] = []
    for tool in tools:
        try:
            outcomes.append(await services.adapter.adapt(tool, version))
        except RequestError as error:
            outcomes.append(error)
    return outcomes


def _write(
    form: str,
    version: str,
    names: Sequence[str],
    outcomes: Sequence[AdaptedTool | RequestError],
) -> None:
    if form == "json":
        objects = list(map(_object, names, outcomes))
        write_output(format_json({"protocol_version": version, "tools": objects}))
        return
    definitions = [read_json(tool.json) for tool in outcomes if isinstance(tool, AdaptedTool)]
    write_output(format_json(definitions))
    rows = [row for name, tool in zip(names, outcomes, strict=True) for row in _rows(name, tool)]
    summary = f"{format_count(len(definitions), 'tool')} in the form for {version}"
    write_rows([*rows, Row(((summary, "bold"),))], to_stderr=True)


def _object(name: str, tool: AdaptedTool | RequestError) -> dict[str, Any]:
    if isinstance(tool, RequestError):
        return {"name": name, "error": {"reason": tool.reason.value, "message": tool.message}}
    return {
        "name": name,
        "definition": read_json(tool.json),
        "wrapped_property": tool.wrapped_property,
        "dropped_properties": list(tool.dropped_properties),
    }


def _rows(name: str, tool: AdaptedTool | RequestError) -> list[Row]:
    """Return a row for each change of the definition *name*, or its error."""
    heading = escape(name or "(no name)")
    if isinstance(tool, RequestError):
        message = escape(f": {tool.reason.value}: {tool.message}")
        return [Row(((heading, "bold"), (message, "bold red")))]
    changes = []
    if tool.dropped_properties:
        changes.append(f"dropped {', '.join(tool.dropped_properties)}")
    if tool.wraps_output and tool.wrapped_property:
        changes.append(f'wrapped the output schema as "{tool.wrapped_property}"')
    elif tool.wraps_output:
        changes.append("unwrapped the output schema")
    return [Row(((heading, "bold"), (f": {change}", ""))) for change in changes]
