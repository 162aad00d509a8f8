"""Whether a version of a schema accepts a payload, by the evaluation that serves requests."""

from dataclasses import replace

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Verdict, Violation

__all__ = ["Acceptance"]

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
