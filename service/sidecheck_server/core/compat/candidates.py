"""Payloads that may show that a change breaks callers, and which version accepts them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.compat.proof import Answer, Operand, subtract
from sidecheck_server.core.compat.samples import sample_payloads
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import JsonValue, Verdict, Violation

__all__ = ["Acceptance", "Version", "find_payloads", "why_undecided"]

_STEPS = 400_000
"""The most steps for one payload; those that are tried are small."""

_DECISION = EvaluationOptions(max_violations=1)
_REASONS = EvaluationOptions(max_violations=8)


class Acceptance:
    """Decides payloads by all of some schemas, such as both readings of one.

    No code is generated: that takes longer than to evaluate the few payloads that are tried.
    """

    def __init__(self, sources: tuple[SchemaSource, ...], limits: Limits) -> None:
        #: The steps that all evaluations took.
        self.steps = 0
        bounded = replace(limits, steps=min(limits.steps, _STEPS))
        self._schemas = tuple(_interpreted(source, bounded) for source in sources)

    @classmethod
    def of_forms(
        cls, source: SchemaSource, form: NormalForm | None, limits: Limits
    ) -> "Acceptance":
        """Return the acceptance by *source*, and by *form* too if there is one."""
        if form is None:
            return cls((source,), limits)
        text = encode_json(form.schema)
        return cls((source, SchemaSource(text, default_dialect=form.dialect_uri)), limits)

    def accepts(self, payload: bytes) -> bool | None:
        """Return whether all schemas accept *payload*; None if that takes too long."""
        verdicts = self._evaluate(payload, _DECISION)
        return None if verdicts is None else all(verdict.valid for verdict in verdicts)

    def violations(self, payload: bytes) -> tuple[Violation, ...]:
        """Return why *payload* is rejected; none if that takes too long."""
        verdicts = self._evaluate(payload, _REASONS) or ()
        return tuple(violation for verdict in verdicts for violation in verdict.violations)

    def _evaluate(self, payload: bytes, options: EvaluationOptions) -> list[Verdict] | None:
        verdicts: list[Verdict] = []
        for schema in self._schemas:
            try:
                verdict = evaluate(schema, payload, options)
            except RequestError:
                self.steps += _STEPS
                return None
            self.steps += verdict.steps
            verdicts.append(verdict)
            if options is _DECISION and not verdict.valid:
                break
        return verdicts


def _interpreted(source: SchemaSource, limits: Limits) -> CompiledSchema:
    artifact = Artifact(
        digest="", dialect="", fast=None, complete_only_reason="it serves few payloads"
    )
    return CompiledSchema(source, artifact, limits)


_TRIES = 400
"""The most payloads that are tried to find witnesses."""
_FROM_DIFFERENCE = 60
"""The most of them that are made from the difference of the schemas."""
_SAMPLE_STEPS = 2_000_000
"""The most steps to make payloads, in one reading."""
_EVALUATION_STEPS = 20_000_000
"""The most steps to evaluate them."""


@dataclass(frozen=True)
class Version:
    """One version of the schema in one reading."""

    form: NormalForm
    #: The form as written.
    written: NormalForm
    acceptance: Acceptance
    #: Whether it stands for readers, who accept properties that they do not know.
    is_reader: bool = False
    #: Whether its payloads are arguments of calls, which are objects.
    of_arguments: bool = False

    @cached_property
    def operand(self) -> Operand:
        """The operand of `form`."""
        return Operand.of(self.form)

    @cached_property
    def written_operand(self) -> Operand:
        """The operand of `written`."""
        return Operand.of(self.written)


def find_payloads(
    admitting: Version, rejecting: Version, *, count: int = _TRIES, proved: bool = False
) -> Iterator[bytes]:
    """Yield payloads that *admitting* accepts and *rejecting* may reject."""
    values = _values(admitting, rejecting, proved=proved)
    for value in islice(values, count):
        if admitting.acceptance.steps + rejecting.acceptance.steps > _EVALUATION_STEPS:
            return
        if admitting.of_arguments and not isinstance(value, dict):
            continue
        payload = encode_json(value)
        if admitting.acceptance.accepts(payload):
            yield payload


def _values(admitting: Version, rejecting: Version, *, proved: bool) -> Iterator[JsonValue]:
    budget = [_SAMPLE_STEPS]
    values = sample_payloads(admitting.form, rejecting.form, budget)
    if proved:
        # The difference takes longer to find than a payload mostly does.
        yield from islice(values, _FROM_DIFFERENCE)
        other = rejecting.written_operand if rejecting.is_reader else rejecting.operand
        lost = subtract(admitting.operand, other)
        if isinstance(lost, dict | bool):
            form = NormalForm(lost, admitting.form.draft)
            yield from islice(sample_payloads(form, rejecting.form, budget), _FROM_DIFFERENCE)
    yield from values


_HARD = (
    *("unevaluatedProperties", "unevaluatedItems", "pattern", "patternProperties", "not", "if"),
    *("oneOf", "contains", "multipleOf", "uniqueItems", "$ref", "allOf", "anyOf"),
)
"""Keywords that proofs fail with, the hardest first."""


def why_undecided(admitting: Version, rejecting: Version, answer: Answer) -> str:
    """Return why neither a proof nor a payload decides; *answer* is that of the proof."""
    if answer is Answer.NO:
        return "it seems to break callers, but no payload that shows it was found"
    used = _keywords(admitting.form) | _keywords(rejecting.form)
    named = [keyword for keyword in _HARD if keyword in used][:3]
    uses = f"; the schema uses {', '.join(named)}" if named else ""
    return f"neither a proof nor a payload that shows the contrary was found{uses}"


def _keywords(form: NormalForm) -> set[str]:
    names: set[str] = set()
    pending: list[Any] = [form.schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            names |= value.keys()
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return names
