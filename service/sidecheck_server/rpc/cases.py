"""Cases: a target and options, looked up once for all payloads that are judged under them."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TypeVar

from sidecheck.v1 import options_pb2, target_pb2, verdict_pb2
from sidecheck.v1.validation_service_pb2 import ValidateOutcome, ValidateResponse

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import VALID, try_evaluate_inline
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.calls.results import must_be_object, objects_only
from sidecheck_server.core.types import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.access_log import LoggedResponse, log_fields
from sidecheck_server.rpc.batches import Batch
from sidecheck_server.rpc.mapping import (
    WHOLES,
    ValidationOptions,
    options_from_wire,
    side_of,
    skipped_to_wire,
    target_from_wire,
    valid_to_wire,
)
from sidecheck_server.rpc.replies import (
    answer_to_call,
    answer_to_payload,
    answer_to_result,
    unknown_to_caller,
)
from sidecheck_server.services.calls import CallValidation, ToolCalls
from sidecheck_server.services.targets import Side, Target
from sidecheck_server.services.validation import ResolvedSchema, Validator

__all__ = ["PreparedTarget", "PreparedTargets"]

_Value = TypeVar("_Value")

_MOST_KEPT = 4096
_LONGEST_KEPT = 1024
_INLINE = frozenset({"inline_tool", "inline_schema"})
"""Cases that are longer, in bytes, are not kept, nor those of what is sent along: a case
holds on to its compiled schema, and of those sent along the cache bounds the memory."""

_CALLS = frozenset({"arguments", "call_params"})
"""The subjects that a caller sent, who is to be answered in the words of the protocol."""


class PreparedTargets:
    """The cases that were judged last."""

    def __init__(
        self, validator: Validator, calls: ToolCalls, registry: Registry, limits: Limits
    ) -> None:
        self._validator = validator
        self._calls = calls
        self._registry = registry
        self._limits = limits
        self._kept: dict[tuple[bytes, bytes], PreparedTarget] = {}
        self._revision = registry.revision

    def of(
        self, target: target_pb2.Target, options: options_pb2.ValidationOptions
    ) -> "PreparedTarget":
        """Return the case of *target* and *options*; what is wrong with them it says itself."""
        revision = self._registry.revision
        if revision != self._revision:
            self._kept = {}
            self._revision = revision
        key = (target.SerializeToString(), options.SerializeToString())
        case = self._kept.get(key)
        if case is None:
            asked = _read(options_from_wire, options, self._limits)
            case = PreparedTarget(
                _read(target_from_wire, target), asked, self._validator, self._calls, revision
            )
            small = len(key[0]) + len(key[1]) <= _LONGEST_KEPT
            if small and target.WhichOneof("target") not in _INLINE:
                if len(self._kept) >= _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = case
        return case

    def still(
        self,
        case: "PreparedTarget",
        target: target_pb2.Target,
        options: options_pb2.ValidationOptions,
    ) -> "PreparedTarget":
        """Return *case*, of *target* and *options*, or its successor if the registry changed."""
        return case if case.revision == self._registry.revision else self.of(target, options)


@dataclass(frozen=True, slots=True)
class _Ready:
    """What judges subjects of one name."""

    standard: ResolvedSchema
    side: Side
    #: Whether a subject must be an object, whatever the schema says.
    objects_only: bool
    #: The answers to a valid payload, always the same.
    valid: LoggedResponse
    valid_item: ValidateOutcome


class PreparedTarget:
    """A target and options, and what was found for them."""

    __slots__ = ("_asked", "_calls", "_ready", "_target", "_validator", "revision")

    def __init__(
        self,
        target: Target | RequestError,
        asked: ValidationOptions | RequestError,
        validator: Validator,
        calls: ToolCalls,
        revision: int,
    ) -> None:
        self._asked = asked
        self._target = target
        self._validator = validator
        self._calls = calls
        self._ready: dict[str | None, _Ready] = {}
        #: The revision of the registry in which the target is looked up.
        self.revision = revision

    def answer_at_once(
        self, subject: target_pb2.Subject
    ) -> LoggedResponse | ValidateResponse | None:
        """Return the answer to a call about *subject*, or None if that needs a worker.

        Raises:
            Refusal: a limit is exceeded.
        """
        judged = self._judge_at_once(subject, None)
        if judged is None:
            return None
        verdict, payload, ready, asked = judged
        if verdict is VALID:
            return ready.valid
        answer = _answer(verdict, payload, ready, asked, None)
        return ValidateResponse(verdict=answer, registry_revision=self.revision)

    def item_at_once(self, subject: target_pb2.Subject, batch: Batch) -> ValidateOutcome | None:
        """Return the outcome of an item of *batch*, or None if that needs a worker.

        Raises:
            Refusal: a limit is exceeded.
        """
        judged = self._judge_at_once(subject, batch)
        if judged is None:
            return None
        verdict, payload, ready, asked = judged
        if verdict is VALID:
            return ready.valid_item
        outcome = ValidateOutcome(verdict=_answer(verdict, payload, ready, asked, batch))
        batch.tally.look(outcome)
        return outcome

    def _judge_at_once(
        self, subject: target_pb2.Subject, batch: Batch | None
    ) -> tuple[Verdict, bytes, _Ready, ValidationOptions] | None:
        name, asked = subject.WhichOneof("subject"), self._asked
        ready = self._ready.get(name)
        if ready is None or isinstance(asked, RequestError):
            return None
        how = asked.how if batch is None else batch.lowered(asked.how)
        payload = getattr(subject, name)
        verdict = try_evaluate_inline(ready.standard.compiled, payload, how)
        if verdict is None:
            return None
        if ready.objects_only:
            verdict = must_be_object(verdict, payload, how, asked.version)
        return verdict, payload, ready, asked

    async def judge(
        self, subject: target_pb2.Subject, batch: Batch | None = None, *, tried: bool = False
    ) -> verdict_pb2.Verdict:
        """Return the verdict on *subject*, whatever it takes.

        *tried* says that it was asked for at once, and was not to be had.

        Raises:
            Refusal: no judgement can be made.
        """
        asked, name = self._asked, subject.WhichOneof("subject")
        if isinstance(asked, RequestError):
            # Raising adds to a traceback; the one that is kept is never raised itself.
            raise copy(asked)
        ready = self._ready.get(name)
        if ready is None:
            try:
                if name in WHOLES:
                    return await self._judge_whole(subject, asked, batch)
                ready = await self._find(name, asked)
            except RequestError as refusal:
                if refusal.reason is not ErrorReason.UNKNOWN_TOOL:
                    raise
                return self._unknown(refusal, name, asked)
            self._ready[name] = ready
            tried = False
        how = asked.how if batch is None else batch.lowered(asked.how)
        payload = getattr(subject, name or "")
        verdict = None if tried else try_evaluate_inline(ready.standard.compiled, payload, how)
        if verdict is None:
            if batch is not None:
                batch.take_long()
            verdict = await self._validator.validate_offloaded(ready.standard, payload, how)
        if ready.objects_only:
            verdict = must_be_object(verdict, payload, how, asked.version)
        return _answer(verdict, payload, ready, asked, batch)

    async def _judge_whole(
        self, subject: target_pb2.Subject, asked: ValidationOptions, batch: Batch | None
    ) -> verdict_pb2.Verdict:
        """Return the verdict on a call or a result, in which a schema judges a part."""
        target, calls = self._named(), self._calls
        if batch is None:
            manner = CallValidation(asked.version, asked.how, asked.assert_formats)
        else:
            how = batch.lowered(asked.how)
            manner = CallValidation(asked.version, how, asked.assert_formats, batch.take_long)
        match subject.WhichOneof("subject"):
            case "call_params":
                found = await calls.params(subject.call_params, target, manner)
                answer = answer_to_call(found, subject.call_params, asked)
            case "call_result":
                found = await calls.result(subject.call_result, target, manner)
                answer = answer_to_result(found, asked)
            case _:
                found = calls.absent(target, asked.version)
                answer = answer_to_result(found, asked)
        if batch is not None:
            batch.tell(found.verdict)
        return answer

    def _unknown(
        self, refusal: RequestError, name: str | None, asked: ValidationOptions
    ) -> verdict_pb2.Verdict:
        """Return the verdict on a call to an unknown tool.

        Raises:
            Refusal: there is to be none.
        """
        if name in _CALLS:
            refusal = unknown_to_caller(refusal, self._named(), asked)
        if asked.skips_unknown_tools:
            return skipped_to_wire(refusal)
        raise refusal

    def _named(self) -> Target:
        if isinstance(self._target, RequestError):
            # As above: the one that is kept is never raised itself.
            raise copy(self._target)
        return self._target

    async def _find(self, name: str | None, asked: ValidationOptions) -> _Ready:
        side, formats = side_of(name), asked.assert_formats
        standard = await self._validator.find(self._named(), side, assert_formats=formats)
        objects = side is Side.OUTPUT and objects_only(asked.version)
        valid = valid_to_wire(standard)
        answer = ValidateResponse(verdict=valid, registry_revision=self.revision)
        told = LoggedResponse(answer, *log_fields(answer))
        return _Ready(standard, side, objects, told, ValidateOutcome(verdict=valid))


def _answer(
    verdict: Verdict, payload: bytes, ready: _Ready, asked: ValidationOptions, batch: Batch | None
) -> verdict_pb2.Verdict:
    if not verdict.violations and verdict.repair is None:
        return ready.valid_item.verdict
    if batch is not None:
        batch.tell(verdict)
    return answer_to_payload(verdict, payload, ready.standard, ready.side, asked)


def _read(from_wire: Callable[..., _Value], *message: object) -> _Value | RequestError:
    try:
        return from_wire(*message)
    except RequestError as refusal:
        return copy(refusal)
