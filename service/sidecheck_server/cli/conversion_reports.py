"""Reports of converted tools, as text and JSON, and the option for their mappings."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from sidecheck_server.cli.comparison_reports import format_payload, witness_object
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.reports import STYLES, format_count, format_json
from sidecheck_server.cli.rows import (
    Part,
    Row,
    escape,
    is_terminal,
    page_width,
    table,
    write_rows,
)
from sidecheck_server.core.convert.converted_tool import ConvertedTool, combine_tools
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.types import Effect, Loss
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.portability.proof import Outcome, PortabilityProof
from sidecheck_server.core.types import Verdict, Violation

__all__ = [
    "Report",
    "ReportedTool",
    "check_mappings_file",
    "mappings_json",
    "mappings_option",
    "write_report",
]

Command = TypeVar("Command", bound=Callable[..., Any])


def mappings_option(command: Command) -> Command:
    """Add the option ``--mappings-out`` to *command*."""
    return click.option(
        "--mappings-out",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write the mappings for `sidecheck convert-call` to FILE, as a JSON array.",
    )(command)


def check_mappings_file(name: str | None) -> None:
    """Check that the file of ``--mappings-out`` is not standard output.

    Raises:
        click.UsageError: it is.
    """
    if name == "-":
        raise click.UsageError(
            "--mappings-out needs a file: the tools are written to standard output; "
            "--format json includes the mappings"
        )


_HEADING = ("TOOL", "LOCATION", "KEYWORD", "ACTION", "EFFECT", "MESSAGE")
_STYLES = ("bold", "cyan", "cyan", "", "bold", "")


@dataclass(frozen=True, slots=True)
class ReportedTool:
    """Outcome of the conversion of one tool."""

    #: Name of its file on the command line.
    file: str
    #: Name of the tool, or "" if it cannot be read.
    name: str
    outcome: ConvertedTool | RequestError
    #: None if no proof was requested.
    proof: PortabilityProof | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Outcome of a conversion."""

    api: Provider
    #: Tools in the order of the files.
    tools: tuple[ReportedTool, ...]
    #: Verdict on the converted tools as one request.
    request: Verdict

    @property
    def ok(self) -> bool:
        """Whether all tools were converted and fit in one request."""
        return self.request.valid and len(self.converted_tools) == len(self.tools)

    @property
    def converted_tools(self) -> list[ConvertedTool]:
        """Tools without an error."""
        outcomes = (tool.outcome for tool in self.tools)
        return [outcome for outcome in outcomes if isinstance(outcome, ConvertedTool)]

    def losses(self) -> Iterator[tuple[str, Loss]]:
        """Yield each loss with the name of its tool."""
        for tool in self.tools:
            if isinstance(tool.outcome, ConvertedTool):
                for loss in tool.outcome.losses:
                    yield tool.name, loss

    def proofs(self) -> Iterator[tuple[str, PortabilityProof]]:
        """Yield each proof with the name of its tool."""
        for tool in self.tools:
            if tool.proof is not None:
                yield tool.name, tool.proof

    def errors(self) -> Iterator[tuple[str, str, RequestError]]:
        """Yield each error with the file and name of its tool."""
        for tool in self.tools:
            if isinstance(tool.outcome, RequestError):
                yield tool.file, tool.name, tool.outcome

    def not_strict(self) -> Iterator[tuple[str, str]]:
        """Yield each tool that is not strict although the mode prefers it, and why."""
        for tool in self.tools:
            if isinstance(tool.outcome, ConvertedTool) and tool.outcome.not_strict_reason:
                yield tool.name, tool.outcome.not_strict_reason


def mappings_json(report: Report) -> str:
    """Return the mappings of the converted tools, as a JSON array."""
    return format_json(_mappings(report))


def write_report(form: str, report: Report) -> None:
    """Write the tools to standard output in the format *form*.

    As text, losses and errors go to standard error.
    """
    if form == "json":
        write_output(format_json(_object(report)))
        return
    write_output(format_json(_tools(report)))
    write_rows(_rows(report), to_stderr=True)


def _tools(report: Report) -> Any:
    return read_json(combine_tools(report.api.key, [tool.json for tool in report.converted_tools]))


def _mappings(report: Report) -> list[Any]:
    return [read_json(tool.mapping) for tool in report.converted_tools]


def _object(report: Report) -> dict[str, Any]:
    return {
        "tools": _tools(report),
        "errors": [
            {"file": file, "name": name, "reason": error.reason.value, "message": error.message}
            for file, name, error in report.errors()
        ],
        "losses": [
            {
                "tool": name,
                "pointer": loss.pointer,
                "keyword": loss.keyword,
                "action": loss.action.value,
                "effect": loss.effect.value,
                "message": loss.message,
            }
            for name, loss in report.losses()
        ],
        "not_strict": [{"tool": name, "reason": reason} for name, reason in report.not_strict()],
        "mappings": _mappings(report),
        **({"proofs": proofs} if (proofs := list(map(_proof, report.proofs()))) else {}),
        "request": {
            "valid": report.request.valid,
            "violations": [_violation(violation) for violation in report.request.violations],
        },
    }


def _proof(named_proof: tuple[str, PortabilityProof]) -> dict[str, Any]:
    name, proof = named_proof
    return {
        "tool": name,
        "outcome": proof.outcome.value,
        "message": proof.message,
        "witness": witness_object(proof.witness),
    }


def _violation(violation: Violation) -> dict[str, str]:
    return {
        "code": violation.code,
        "severity": violation.severity.value,
        "instance_location": violation.instance_location,
        "message": violation.message,
        "spec_url": violation.spec_url,
    }


def _rows(report: Report) -> Iterator[Row]:
    yield from _loss_rows(report)
    for file, name, error in report.errors():
        subject = ": ".join(filter(None, (file, name)))
        message = f"{error.reason.value}: {error.message}"
        yield _note(subject, ("not converted", "bold red"), message)
    for name, reason in report.not_strict():
        yield _note(name, ("not strict", "bold yellow"), reason)
    for name, proof in report.proofs():
        yield from _proof_rows(name, proof)
    for violation in report.request.violations:
        severity = (violation.severity.value, STYLES[violation.severity])
        location = f" (at {violation.instance_location})" if violation.instance_location else ""
        yield _note("the request", severity, f"{violation.code}: {violation.message}{location}")
    yield Row(((_summary(report), "bold"),))


def _loss_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each loss; on a narrow terminal, two rows grouped by tool."""
    lines = [
        (
            name,
            loss.pointer or "(root)",
            loss.keyword,
            loss.action.value,
            loss.effect.value,
            loss.message,
        )
        for name, loss in report.losses()
    ]
    if not lines:
        return
    rows = list(table([_HEADING, *lines], _STYLES))
    width = page_width(to_stderr=True)
    if not is_terminal(to_stderr=True) or all(len(row.plain) <= width for row in rows):
        yield from rows
        return
    previous = None
    for line in lines:
        name, pointer, keyword, action, effect, message = map(escape, line)
        if name != previous:
            yield Row(((name, "bold"),))
        location = " ".join(filter(None, (pointer, keyword)))
        yield Row(((f"{location}: ", "cyan"), (f"{action}, ", ""), (effect, "bold")), indent=2)
        yield Row(((message, ""),), indent=4)
        previous = name


_PROOF_STYLES = {
    Outcome.EQUIVALENT: "bold green",
    Outcome.WIDER: "bold green",
    Outcome.UNDECIDED: "bold yellow",
    Outcome.NARROWER: "bold red",
}
_PROOF_TEXTS = {
    Outcome.EQUIVALENT: "proved to accept the same calls",
    Outcome.WIDER: "proved to accept all calls of the original, and possibly others",
}


def _proof_rows(name: str, proof: PortabilityProof) -> Iterator[Row]:
    """Yield a row for *proof*, and one for the payload that it found."""
    message = _PROOF_TEXTS.get(proof.outcome, proof.message)
    yield _note(name, (proof.outcome.value, _PROOF_STYLES[proof.outcome]), message)
    if proof.witness is not None:
        yield Row(((format_payload(proof.witness), ""),), indent=2)


def _note(subject: str, word: Part, message: str) -> Row:
    return Row(((escape(subject), "bold"), (": ", ""), word, (escape(f": {message}"), "")))


def _summary(report: Report) -> str:
    strict = sum(tool.strict for tool in report.converted_tools)
    failed = len(report.tools) - len(report.converted_tools)
    parts = [f"{format_count(len(report.converted_tools), 'tool')} for {report.api.display_name}"]
    parts += [f"{strict:,} strict"] if strict else []
    parts += [f"{failed:,} not converted"] if failed else []
    counts = Counter(loss.effect for _, loss in report.losses())
    if not counts:
        return ", ".join([*parts, "no losses"])
    by_effect = (
        f"{counts[effect]:,} {effect.value}" for effect in reversed(Effect) if counts[effect]
    )
    total = counts.total()
    losses = f"{total:,} loss{'' if total == 1 else 'es'}"
    return ", ".join([*parts, f"{losses} ({', '.join(by_effect)})"])
