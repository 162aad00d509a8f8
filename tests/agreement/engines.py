"""Comparison of three validators: the fast engine, the complete engine and jsonschema-rs.

A disagreement or a violated invariant is a `Finding`; there should be none.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from agreement.editions import as_doubles
from agreement.schemas import Question
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import DISAGREEMENT, EvaluationOptions, evaluate
from sidecheck_server.core.limits import Exhausted, Limits
from sidecheck_server.core.payload import decode
from sidecheck_server.core.types import Verdict, Violation

__all__ = ["LIMITS", "ORACLE_REJECTED", "REASONS", "Engines", "Finding", "create_engines"]

LIMITS = Limits()
REASONS = frozenset(
    {
        ErrorReason.LIMIT_EXCEEDED,
        ErrorReason.SCHEMA_NOT_JSON,
        ErrorReason.UNSUPPORTED_DIALECT,
        ErrorReason.INVALID_SCHEMA,
        ErrorReason.INVALID_PATTERN,
        ErrorReason.UNSUPPORTED_PATTERN,
        ErrorReason.UNRESOLVABLE_REFERENCE,
        ErrorReason.REFERENCE_CYCLE,
    }
)
"""Permitted reasons to reject a schema."""

ORACLE_REJECTED = "jsonschema-rs rejected"
"""Kind of the finding that jsonschema-rs rejects a schema."""

_OPTIONS = EvaluationOptions()


@dataclass(frozen=True, slots=True)
class Finding:
    """A disagreement or a broken invariant."""

    #: Its kind, for grouping.
    kind: str
    #: What was observed.
    detail: str
    question: Question
    #: The payload, as JSON text, or None if the schema alone is wrong.
    payload: str | None = None


@dataclass(slots=True)
class Engines:
    """The validators of one question."""

    question: Question
    artifact: Artifact
    compiled: CompiledSchema
    oracle: Any
    #: The verdicts so far by payload, for comparison with repeated evaluations.
    verdicts: dict[str, bool] = field(default_factory=dict)

    def examine(self, payload: str) -> Iterator[Finding]:
        """Evaluate the JSON text *payload*; yield a finding for every fault."""
        value = decode(payload.encode(), max_depth=LIMITS.payload_depth)
        original = json.dumps(value)
        schema = self._schema()
        verdicts: dict[str, Any] = {}
        for name, is_valid in self.by_name().items():
            try:
                verdicts[name] = is_valid(value)
            except Exhausted:
                return
            except Exception as error:  # noqa: BLE001  (any other exception is a finding)
                yield self._finding("raised", f"{name}: {type(error).__name__}: {error}", payload)
                return
        if json.dumps(value) != original:
            yield self._finding("payload changed", json.dumps(value), payload)
        if self._schema() != schema:
            yield self._finding("schema changed", self._schema(), payload)
        if len(set(verdicts.values())) > 1:
            yield self._finding("verdicts differ", json.dumps(verdicts), payload)
            return
        self.verdicts[payload] = verdicts["complete"]
        yield from self._examine_verdict(payload, value)

    def by_name(self) -> dict[str, Any]:
        """Return the validity function of each engine that supports the schema."""
        # The fast engine is first: payloads that it finds too expensive skip the others.
        fast = {} if self.compiled.fast is None else {"fast": self.compiled.fast.is_valid}
        oracle = {} if self.question.assert_formats else {"jsonschema-rs": self._ask_oracle}
        return {**fast, "complete": self.compiled.complete.is_valid, **oracle}

    def _ask_oracle(self, value: Any) -> bool:
        return bool(self.oracle.is_valid(as_doubles(value)))

    def _schema(self) -> str:
        """Return the engines' copies of the schema, which must not change."""
        constants = self.artifact.fast.constants if self.artifact.fast else ()
        return json.dumps([constants, self.compiled.complete._schema])

    def _examine_verdict(self, payload: str, value: Any) -> Iterator[Finding]:
        try:
            verdict = evaluate(self.compiled, payload.encode(), _OPTIONS)
            second_verdict = evaluate(self.compiled, payload.encode(), _OPTIONS)
        except Exception as error:  # noqa: BLE001  (evaluate must answer where the engines did)
            yield self._finding("raised", f"evaluate: {type(error).__name__}: {error}", payload)
            return
        if verdict != second_verdict:
            yield self._finding("verdict not repeatable", f"{verdict} {second_verdict}", payload)
        if verdict.valid != self.verdicts[payload]:
            yield self._finding("evaluate differs", str(verdict), payload)
        for kind in _faults_of(verdict, value):
            yield self._finding(kind, str(verdict), payload)

    def _finding(self, kind: str, detail: str, payload: str) -> Finding:
        return Finding(kind, detail, self.question, payload)


def create_engines(question: Question) -> Engines | RequestError | Finding:
    """Return the validators of *question*, or the error of its schema.

    A finding is returned if compilation raises another exception, or disagrees with
    jsonschema-rs about the validity of the schema against its meta-schema.
    """
    source = question.source()
    admits = question.edition.oracle_admits(question.schema)
    try:
        artifact = compile_schema(source, LIMITS)
    except RequestError as refusal:
        if refusal.reason not in REASONS or not refusal.message:
            return Finding("unexpected error of the schema", str(refusal), question)
        # The meta-schema does not cover references, patterns and repeated identifiers.
        broken = any(violation.keyword_location for violation in refusal.violations)
        if broken and admits and not question.documents:
            return Finding(
                "rejected a schema that is valid against the meta-schema", str(refusal), question
            )
        return refusal
    except Exception as error:  # noqa: BLE001  (any other exception is a finding)
        return Finding("raised", f"compilation: {type(error).__name__}: {error}", question)
    if not admits:
        return Finding("admitted a schema that violates the meta-schema", "", question)
    try:
        oracle = question.edition.oracle(question.schema, question.documents)
    except ValueError as error:
        return Finding(ORACLE_REJECTED, str(error), question)
    return Engines(question, artifact, CompiledSchema(source, artifact, LIMITS), oracle)


def _faults_of(verdict: Verdict, value: Any) -> Iterator[str]:
    """Yield the faults in the form of *verdict* on *value*."""
    codes = {violation.code for violation in verdict.violations}
    if codes & {DISAGREEMENT, "DETAILS_UNAVAILABLE"}:
        yield "not explained"
    if any(not (violation.code and violation.message) for violation in verdict.violations):
        yield "violation without code or message"
    if list(verdict.violations) != sorted(verdict.violations, key=Violation.order):
        yield "violations not sorted"
    if len(verdict.violations) > _OPTIONS.max_violations:
        yield "too many violations"
    if not all(_resolves(violation.instance_location, value) for violation in verdict.violations):
        yield "unresolvable pointer"


def _resolves(pointer: str, value: Any) -> bool:
    """Return whether the JSON Pointer *pointer* resolves in *value* (RFC 6901)."""
    steps = pointer.split("/")
    for raw in steps[1:]:
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return steps[0] == ""
