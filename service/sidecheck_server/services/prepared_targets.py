"""Cache of prepared targets, with the schemas that they resolve to."""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from sidecheck_server.access.identity import allowed_servers
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import VALID, EvaluationOptions
from sidecheck_server.core.mcp.call_errors import ErrorResponse
from sidecheck_server.core.mcp.context import requires_object_output
from sidecheck_server.core.mcp.results.check import require_object
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Severity, Verdict, Violation
from sidecheck_server.registry import Registry
from sidecheck_server.services.calls import (
    NO_REPLY,
    CallValidator,
    reply_for_call,
    reply_for_payload,
    reply_for_result,
    with_json_rpc_error,
)
from sidecheck_server.services.offload import allow_offloading
from sidecheck_server.services.request_work import BatchBudget
from sidecheck_server.services.resolution import ResolvedSchema, TargetResolver
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, Side, SubjectKind, Target
from sidecheck_server.services.validation import ValidationOptions, Validator, evaluate_inline

__all__ = [
    "PreparedTarget",
    "PreparedTargets",
    "ValidationOutcome",
]

_Value = TypeVar("_Value")

_SIDES = {"arguments": Side.INPUT, "structured_content": Side.OUTPUT}
_CALLS = frozenset({"arguments", "call_params"})
"""Subjects of MCP clients, for which the protocol prescribes a reply."""


@dataclass(slots=True)
class ValidationOutcome:
    """The verdict on a subject, with digests and the reply to an invalid one."""

    verdict: Verdict
    #: The digest of the definition, or "".
    definition_digest: str = ""
    #: The digest of the schema, or "".
    schema_digest: str = ""
    #: Whether the caller should act on the verdict.
    enforced: bool = True
    #: Whether the response lists the violations.
    lists_violations: bool = True
    #: The reply to the peer if the subject is invalid.
    reply: ErrorResponse = NO_REPLY
    #: Whether all valid subjects of a prepared target share this outcome.
    shared: bool = False
    #: A shared outcome as the transport encoded it, so that this happens once.
    encoded: Any = None


@dataclass(frozen=True, slots=True)
class _PreparedSchema:
    """The schema that validates subjects of one kind."""

    schema: ResolvedSchema
    side: Side
    #: Whether the protocol version requires an object, even if the schema does not.
    requires_object_output: bool
    evaluation: EvaluationOptions
    options: ValidationOptions
    #: The outcome of every valid subject.
    valid: ValidationOutcome


class PreparedTarget:
    """A target and options, with the schemas that they resolve to."""

    __slots__ = ("_calls", "_options", "_resolver", "_schemas", "_target", "_validator", "revision")

    def __init__(
        self,
        target: Target | RequestError,
        options: ValidationOptions | RequestError,
        revision: int,
        resolver: TargetResolver,
        validator: Validator,
        calls: CallValidator,
    ) -> None:
        self._target = target
        self._options = options
        self._resolver = resolver
        self._validator = validator
        self._calls = calls
        self._schemas: dict[SubjectKind | None, _PreparedSchema] = {}
        #: The revision of the registry in which the target is resolved.
        self.revision = revision

    def try_validate(
        self, kind: SubjectKind | None, payload: bytes, budget: BatchBudget | None = None
    ) -> ValidationOutcome | None:
        """Return the outcome of *payload*, or None if that needs a worker or an await.

        Raises:
            RequestError: a limit is exceeded.
        """
        prepared = self._schemas.get(kind)
        if prepared is None:
            return None
        evaluation = prepared.evaluation
        if budget is not None:
            evaluation = budget.limit_evaluation(evaluation)
        verdict = evaluate_inline(prepared.schema.compiled, payload, evaluation)
        if verdict is None or (prepared.schema.unadapted is not None and not verdict.valid):
            return None
        if verdict is VALID and not prepared.requires_object_output:
            return prepared.valid
        return _outcome(prepared, verdict, payload, evaluation, budget)

    async def validate(
        self,
        kind: SubjectKind | None,
        payload: bytes,
        budget: BatchBudget | None = None,
        *,
        was_tried: bool = False,
    ) -> ValidationOutcome:
        """Return the outcome of *payload*.

        *was_tried*: whether `try_validate` has returned None for the same payload.

        Raises:
            RequestError: the request is invalid, its target is unknown or invalid, a limit
                is exceeded, or the worker crashed.
        """
        prepared = self._schemas.get(kind)
        if prepared is None:
            options = self._options_for(kind, payload)
            try:
                if kind is not None and kind not in _SIDES:
                    return await self._validate_call(kind, payload, options, budget)
                prepared = await self._prepare(kind, options)
            except RequestError as error:
                if error.reason is not ErrorReason.UNKNOWN_TOOL:
                    raise
                return self._unknown_tool(error, kind, options)
            self._schemas[kind] = prepared
            was_tried = False
        evaluation = prepared.evaluation
        if budget is not None:
            evaluation = budget.limit_evaluation(evaluation)
        schema, count = prepared.schema, allow_offloading
        if budget is not None:
            count = budget.count_offloaded
        if was_tried and schema.unadapted is None:
            count()
            verdict = await self._validator.validate_offloaded(schema.compiled, payload, evaluation)
        else:
            verdict = await self._validator.validate(schema, payload, evaluation, count)
        return _outcome(prepared, verdict, payload, evaluation, budget)

    async def _prepare(
        self, kind: SubjectKind | None, options: ValidationOptions
    ) -> _PreparedSchema:
        """Resolve the schema for subjects of *kind*."""
        if kind is None:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "the request has no subject; expected one of arguments, structured_content, "
                "absent_structured_content, call_params, call_result",
                {"field": "subject"},
            )
        side = _SIDES[kind]
        schema = await self._resolver.resolve_schema(
            self._valid_target(), side, options.version, assert_formats=options.assert_formats
        )
        valid = ValidationOutcome(
            VALID, schema.definition_digest, schema.schema_digest, schema.enforced, shared=True
        )
        must_be_objects = side is Side.OUTPUT and requires_object_output(options.version)
        return _PreparedSchema(schema, side, must_be_objects, options.evaluation, options, valid)

    def _options_for(self, kind: SubjectKind | None, payload: bytes) -> ValidationOptions:
        """Return the options, with the protocol version that applies to the target."""
        options = _value_or_raise(self._options)
        if options.version or isinstance(self._target, RequestError):
            return options
        target: Target | None = self._target
        if kind == "call_params":
            target = self._calls.with_called_name(payload, self._target)
        return replace(options, version=self._resolver.version_of(target, ""))

    def _valid_target(self) -> Target:
        """Return the target, or raise the error of reading it."""
        target = self._target
        if isinstance(target, RequestError):
            raise copy(target)
        return target

    async def _validate_call(
        self,
        kind: SubjectKind,
        payload: bytes,
        options: ValidationOptions,
        budget: BatchBudget | None,
    ) -> ValidationOutcome:
        """Return the outcome of a whole call or result, a part of which has a schema."""
        target, count_offloaded = self._valid_target(), allow_offloading
        limited = options
        if budget is not None:
            limited = replace(options, evaluation=budget.limit_evaluation(options.evaluation))
            count_offloaded = budget.count_offloaded
        if kind == "call_params":
            call = await self._calls.validate_params(payload, target, limited, count_offloaded)
            reply = reply_for_call(call, payload, options)
        elif kind == "call_result":
            call = await self._calls.validate_result(payload, target, limited, count_offloaded)
            reply = reply_for_result(call, options)
        else:
            call = await self._calls.validate_absence(target, options.version)
            reply = reply_for_result(call, options)
        if budget is not None:
            budget.charge(call.verdict)
        return ValidationOutcome(
            call.verdict,
            call.definition_digest,
            call.schema_digest,
            call.enforced,
            options.lists_violations,
            reply,
        )

    def _unknown_tool(
        self, error: RequestError, kind: SubjectKind | None, options: ValidationOptions
    ) -> ValidationOutcome:
        """Return the outcome of a call to an unknown tool, if the options skip such calls.

        Raises:
            RequestError: UNKNOWN_TOOL, otherwise.
        """
        if kind in _CALLS:
            error = with_json_rpc_error(error, self._valid_target(), options)
        if not options.skips_unknown_tools:
            raise error
        code, severity = error.reason.value, Severity.WARNING
        return ValidationOutcome(Verdict((Violation("", "", "", code, error.message, severity),)))


def _outcome(
    prepared: _PreparedSchema,
    verdict: Verdict,
    payload: bytes,
    evaluation: EvaluationOptions,
    budget: BatchBudget | None,
) -> ValidationOutcome:
    """Return the outcome of *payload*, on which its schema has *verdict*."""
    options, schema = prepared.options, prepared.schema
    if prepared.requires_object_output:
        verdict = require_object(verdict, payload, evaluation, options.version)
    if not verdict.violations and verdict.repair is None:
        return prepared.valid
    if budget is not None:
        budget.charge(verdict)
    return ValidationOutcome(
        verdict,
        schema.definition_digest,
        schema.schema_digest,
        schema.enforced,
        options.lists_violations,
        reply_for_payload(verdict, payload, schema.tool, prepared.side, options),
    )


def _value_or_raise(value: _Value | RequestError) -> _Value:
    """Return *value*, or raise a copy of the error that it is.

    Raising extends the traceback; a stored error is never raised itself.
    """
    if isinstance(value, RequestError):
        raise copy(value)
    return value


#: The target and the options of a request, serialized.
_Key: TypeAlias = tuple[bytes, bytes]

_MAX_TARGETS = 4096
_MAX_KEY_BYTES = 1024
"""Maximum length of a cached key."""


# Decision 0018: reading a request costs more than validating a small payload.
class PreparedTargets:
    """Cache of prepared targets, valid for one revision of the registry.

    Prepared targets hold compiled schemas, so all are dropped whenever the cache of schemas
    drops one. A target in use is then prepared again, which marks its schemas as recently
    used in that cache.
    """

    def __init__(
        self,
        resolver: TargetResolver,
        validator: Validator,
        calls: CallValidator,
        registry: Registry,
        schemas: CompiledSchemas,
    ) -> None:
        self._resolver = resolver
        self._validator = validator
        self._calls = calls
        self._registry = registry
        self._schemas = schemas
        self._revision = registry.revision
        self._dropped = schemas.dropped
        #: Callers have access to different servers, so the allowed servers are part of the key.
        self._targets: dict[tuple[_Key, frozenset[str] | None], PreparedTarget] = {}
        #: Numbers of lookups that did and did not find a cached target.
        self.hits = self.misses = 0

    def find(self, key: _Key) -> PreparedTarget | None:
        """Return the prepared target of *key* for the current caller, or None."""
        revision, dropped = self._registry.revision, self._schemas.dropped
        if revision != self._revision or dropped != self._dropped:
            self._targets.clear()
            self._revision, self._dropped = revision, dropped
        prepared = self._targets.get((key, allowed_servers()))
        if prepared is None:
            self.misses += 1
        else:
            self.hits += 1
        return prepared

    def add(
        self,
        key: _Key,
        target: Target | RequestError,
        options: ValidationOptions | RequestError,
    ) -> PreparedTarget:
        """Prepare *target* and *options*, or the errors of reading them.

        Inline targets are not cached here: prepared targets hold compiled schemas, and the
        cache of inline schemas bounds the memory of these.
        """
        prepared = PreparedTarget(
            target, options, self._revision, self._resolver, self._validator, self._calls
        )
        short = len(key[0]) + len(key[1]) <= _MAX_KEY_BYTES
        if short and not isinstance(target, InlineTool | SchemaSource):
            if len(self._targets) >= _MAX_TARGETS:
                del self._targets[next(iter(self._targets))]
            self._targets[key, allowed_servers()] = prepared
        return prepared

    def is_current(self, prepared: PreparedTarget) -> bool:
        """Return whether the registry is unchanged since *prepared* was made."""
        return prepared.revision == self._registry.revision
