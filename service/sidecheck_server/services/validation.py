"""Validation of payloads by resolved schemas, in the event loop or in a worker."""

from dataclasses import dataclass, replace

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import (
    EvaluationOptions,
    details_unavailable,
    try_evaluate_inline,
)
from sidecheck_server.core.mcp.call_params import has_property_text
from sidecheck_server.core.payload import is_object_text
from sidecheck_server.core.types import Severity, Verdict, Violation
from sidecheck_server.services.offload import CountOffloaded
from sidecheck_server.services.request_work import charge_work
from sidecheck_server.services.resolution import ResolvedSchema
from sidecheck_server.workers.tasks import RunTask, ValidatePayload

__all__ = [
    "OUTPUT_READING",
    "ValidationOptions",
    "Validator",
    "evaluate_inline",
]

_KILL_BOUNDS = frozenset({"validation_seconds", "worker_bytes"})
"""Bounds whose violation kills the worker, or exhausts its memory."""

_EVALUATION_STEPS = 500
"""Fixed steps of an evaluation and its outcome, whatever the length of the payload."""

OUTPUT_READING = "OUTPUT_READING"
"""Code of the violation that names the form in which structured content was read, if that is
not the form of the protocol version."""

_ROOT_KEYWORDS = frozenset({"type", "enum", "const"})
"""Keywords by which a schema may reject every object."""


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """Options for validating the payloads of a request."""

    evaluation: EvaluationOptions
    #: The protocol version whose rules apply; "" stands for the version of the target
    #: (`TargetResolver.version_of`).
    version: str
    assert_formats: bool = False
    #: Whether verdicts list their violations.
    lists_violations: bool = True
    #: Whether a call to an unknown tool is valid.
    skips_unknown_tools: bool = False


def evaluate_inline(
    compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
) -> Verdict | None:
    """Return the verdict on *payload*, or None if that takes too many steps.

    The current request is charged the steps taken.

    Raises:
        RequestError: a limit is exceeded.
    """
    steps = compiled.limits.inline_steps
    budget = [steps]
    try:
        return try_evaluate_inline(compiled, payload, options, budget)
    finally:
        charge_work(_EVALUATION_STEPS + len(payload) // 2 + steps - max(0, budget[0]))


class Validator:
    """Validates payloads against schemas."""

    def __init__(self, run: RunTask) -> None:
        self._run = run

    def evaluate_inline(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict | None:
        """Return the verdict on *payload*, or None; see the function of the same name.

        Raises:
            RequestError: a limit is exceeded.
        """
        return evaluate_inline(compiled, payload, options)

    async def validate(
        self,
        schema: ResolvedSchema,
        payload: bytes,
        options: EvaluationOptions,
        count_offloaded: CountOffloaded,
    ) -> Verdict:
        """Return the verdict on *payload*, from a worker if it takes many steps.

        If the protocol version wraps or unwraps the output schema of the tool, content may have
        the adapted form or the form of the definition, since the server may list either. The
        wrapped form is tried first. Content that is valid only in the form of the definition
        has the violation `OUTPUT_READING` of severity info. The verdict on invalid content is
        that of the form that it has, or of the wrapped form if the version requires an object
        and the definition rejects every object.

        Raises:
            RequestError: a limit is exceeded, or the worker crashed; as *count_offloaded*.
        """
        # Decision 0043: the service does not know which form the server lists.
        if schema.unadapted is None:
            return await self._validate(schema.compiled, payload, options, count_offloaded)
        adapted_is_wrapped = schema.wraps
        forms = (schema.compiled, schema.unadapted)
        wrapped_form, plain_form = forms if adapted_is_wrapped else forms[::-1]
        wrapped = await self._validate(wrapped_form, payload, options, count_offloaded)
        if wrapped.valid:
            return wrapped if adapted_is_wrapped else _with_reading(wrapped, _WRAPPED_NOTE, schema)
        plain = await self._validate(plain_form, payload, options, count_offloaded)
        # A version that wraps schemas requires structured content to be an object.
        is_object = is_object_text(payload)
        if plain.valid and (is_object or not adapted_is_wrapped):
            return _with_reading(plain, _PLAIN_NOTE, schema) if adapted_is_wrapped else plain
        has_property = is_object and has_property_text(payload, schema.wrapped_property)
        is_wrapped = has_property or (
            adapted_is_wrapped and not (is_object and _allows_object(plain))
        )
        return wrapped if is_wrapped else plain

    async def _validate(
        self,
        compiled: CompiledSchema,
        payload: bytes,
        options: EvaluationOptions,
        count_offloaded: CountOffloaded,
    ) -> Verdict:
        verdict = self.evaluate_inline(compiled, payload, options)
        if verdict is None:
            count_offloaded()
            verdict = await self.validate_offloaded(compiled, payload, options)
        return verdict

    async def validate_offloaded(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict:
        """Return a worker's verdict on *payload*, if `evaluate_inline` returned None.

        A first task determines validity alone, so that only the explanation is lost if the
        worker is killed while it explains an invalid payload.

        Raises:
            RequestError: a limit is exceeded, or the worker crashed.
        """
        task = ValidatePayload(compiled, payload, options)
        if options.repairs is not None or not options.explains:
            return await self._run(task)
        brief = replace(options, explains=False, max_violations=1)
        verdict = await self._run(replace(task, options=brief))
        if verdict.valid:
            return verdict
        try:
            return await self._run(task)
        except RequestError as error:
            crashed = error.reason is ErrorReason.WORKER_CRASHED
            if crashed or error.metadata.get("bound") in _KILL_BOUNDS:
                return details_unavailable()
            raise


_WRAPPED_NOTE = "the content is read as an object with the value in {!r}, as the tool defines it"
_PLAIN_NOTE = (
    "the content is read as the value itself, as the tool defines it, without {!r} around it"
)


def _with_reading(verdict: Verdict, reading: str, schema: ResolvedSchema) -> Verdict:
    """Return the valid *verdict* with a note about the form of the content."""
    note = Violation(
        "", "", "", OUTPUT_READING, reading.format(schema.wrapped_property), Severity.INFO
    )
    return replace(verdict, violations=(*verdict.violations, note))


def _allows_object(verdict: Verdict) -> bool:
    """Return whether a schema that rejected an object may accept another."""
    return not any(
        violation.keyword in _ROOT_KEYWORDS and not violation.instance_location
        for violation in verdict.violations
    )
