"""Answering the questions of rules: schemas in a payload, and values that they must admit."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import msgspec

from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.compiler.schema_warnings import SchemaWarning
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.findings import CheckSpec, Findings
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.schema_warnings import BY_CODE
from sidecheck_server.core.mcp.tools.schema_problems import schema_problems
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Verdict, Violation, as_pointer

__all__ = [
    "Compiling",
    "answer",
    "answer_all",
    "compiling_sources",
    "source_for",
    "value_text",
]

#: Returns a compiled schema, or why there is none.
Compiling = Callable[[SchemaSource], CompiledSchema | RequestError]


def source_for(asking: CheckSpec, findings: Findings) -> SchemaSource:
    """Return what to compile to answer *asking*."""
    question = asking.question
    return SchemaSource(
        msgspec.json.encode(question.schema),
        findings.context.documents,
        assert_formats=question.assert_formats,
    )


def value_text(asking: CheckSpec) -> bytes | None:
    """Return the JSON text of the value to be judged, or None if only the schema is asked about."""
    value = asking.question.value
    return msgspec.json.encode(value[0]) if value else None


def answer(
    asking: CheckSpec,
    findings: Findings,
    compiled: CompiledSchema | RequestError,
    verdict: Verdict | None = None,
) -> None:
    """Add to *findings* what *compiled*, and the *verdict* on the value, say to *asking*."""
    question = asking.question
    if isinstance(compiled, RequestError):
        if not question.silent:
            path = (*asking.path, *question.schema_path)
            # The schema of a type says some of what a meta-schema says of parts of a schema.
            told = findings.places_of_errors() - {as_pointer(path)}
            problems = schema_problems(compiled, question.schema, path, findings.context)
            findings.add_all(each for each in problems if each.instance_location not in told)
        return
    if not question.silent and not question.value:
        at = as_pointer((*asking.path, *question.schema_path))
        findings.add_all(_told(remark, at, findings) for remark in compiled.artifact.remarks)
    if verdict is not None:
        at = as_pointer((*asking.path, *question.value_path))
        findings.add_all(
            (
                replace(one, instance_location=at + one.instance_location)
                for one in verdict.violations
            ),
            truncated=verdict.truncated,
        )


def _told(remark: SchemaWarning, at: str, findings: Findings) -> Violation:
    """Return the violation that *remark*, on the schema at *at*, is."""
    context = findings.context
    rule = BY_CODE[remark.code]
    said = f"not so: {rule.sentence}" if context.hide_values else remark.message
    found = rule.violation(Fault((), said), context.version)
    return replace(found, instance_location=at + remark.pointer)


def compiling_sources(limits: Limits) -> Compiling:
    """Return what compiles under *limits*, and keeps the last few hundred."""

    @lru_cache(maxsize=256)
    def compiled(source: SchemaSource) -> CompiledSchema | RequestError:
        try:
            return CompiledSchema(source, compile_source(source, limits), limits)
        except RequestError as refusal:
            return refusal

    return compiled


def answer_all(
    checked: Checked, limits: Limits, how: EvaluationOptions, compiling: Compiling | None = None
) -> None:
    """Answer every question of *checked* here and now, however long compiling takes.

    *compiling* may know schemas from earlier subjects.

    Raises:
        Refusal: LIMIT_EXCEEDED, if judging a value takes too long.
    """
    findings = checked.findings
    compiling = compiling or compiling_sources(limits)
    ready: dict[tuple[int, bool], CompiledSchema | RequestError] = {}
    for asking in findings.questions:
        if asking.key not in ready:
            ready[asking.key] = compiling(source_for(asking, findings))
        compiled = ready[asking.key]
        text = None if isinstance(compiled, RequestError) else value_text(asking)
        if text is None or isinstance(compiled, RequestError):
            answer(asking, findings, compiled)
        else:
            answer(asking, findings, compiled, judge(compiled, text, how))
    findings.questions.clear()
