"""Judgements of payloads, offline: each is a verdict or a refusal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.cli.reports import (
    Block,
    counted,
    in_json,
    problem_object,
    tally,
    write_blocks,
)
from sidecheck_server.cli.rows import is_terminal, printable
from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import find_tool, read_tool
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document, Verdict

__all__ = ["Judgement", "judge_payloads", "write_judgements"]

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one payload."""

    source: Source
    outcome: Verdict | RequestError

    @property
    def valid(self) -> bool:
        """Whether it was judged, and is valid."""
        return isinstance(self.outcome, Verdict) and self.outcome.valid

    @property
    def findings(self) -> list[Finding]:
        """Its violations with their places, read anew each time."""
        if isinstance(self.outcome, RequestError):
            return []
        return find_violations(self.source, self.outcome.violations)


def judge_payloads(
    definition: bytes,
    tool: str | None,
    documents: tuple[Document, ...],
    texts: Sequence[tuple[str, bytes]],
    *,
    assert_formats: bool,
    max_violations: int,
    hide_values: bool,
) -> list[Judgement]:
    """Judge *texts*, which are names and payloads, under a schema or a tool's input schema.

    *definition* is the schema, or tool definitions of which *tool* is named.
    """
    how = EvaluationOptions(max_violations=max_violations, hide_values=hide_values)
    sources = [Source(name, text) for name, text in texts]

    def judged(source: Source) -> Judgement:
        try:
            return Judgement(source, judge(compiled, source.text, how))
        except RequestError as refusal:
            return Judgement(source, refusal)

    try:
        schema = (
            SchemaSource(definition, documents)
            if tool is None
            else read_tool(find_tool(definition, tool, _LIMITS), documents, _LIMITS).input
        )
        schema = replace(schema, assert_formats=assert_formats)
        compiled = CompiledSchema(schema, compile_source(schema, _LIMITS), _LIMITS)
    except RequestError as refusal:
        return [Judgement(source, refusal) for source in sources]
    return [judged(source) for source in with_progress(sources, len(sources), "Judging payloads")]


def write_judgements(form: str, judgements: Sequence[Judgement], *, excerpts: bool | None) -> None:
    """Write *judgements* to standard output in the format *form*, with a summary in text.

    *excerpts* says whether places are shown; on a terminal they are if it is None.
    """
    if form == "json":
        write_output(in_json([_object(one) for one in judgements]))
        return
    blocks = [_block(one) for one in judgements]
    refused = sum(isinstance(one.outcome, RequestError) for one in judgements)
    said = [counted(len(judgements), "payload")]
    findings = [finding for block in blocks for finding in block.findings]
    if findings or not refused:
        said.append(tally(findings))
    if refused:
        said.append(f"{refused:,} refused")
    shown = is_terminal() if excerpts is None else excerpts
    write_blocks(blocks, ", ".join(said), excerpts=shown)


def _object(judgement: Judgement) -> dict[str, Any]:
    outcome = judgement.outcome
    if isinstance(outcome, RequestError):
        refusal = {"reason": outcome.reason.value, "message": outcome.message}
        return {"payload": judgement.source.name, "refusal": refusal}
    return {
        "payload": judgement.source.name,
        "valid": outcome.valid,
        "truncated": outcome.truncated,
        "violations": [problem_object(finding) for finding in judgement.findings],
    }


def _block(judgement: Judgement) -> Block:
    outcome = judgement.outcome
    name = f"{printable(judgement.source.name)}: "
    if isinstance(outcome, RequestError):
        said = printable(f": {outcome.reason.value}: {outcome.message}")
        return Block(((name, "bold"), ("refused", "bold red"), (said, "")))
    word = ("valid", "bold green") if outcome.valid else ("invalid", "bold red")
    more = "... there may be more; see --max-violations" if outcome.truncated else ""
    return Block(((name, "bold"), word), judgement.findings, more)
