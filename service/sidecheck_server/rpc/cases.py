"""Cases: a target and options, looked up once for all payloads that are judged under them."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TypeVar

from sidecheck.v1 import options_pb2, target_pb2, verdict_pb2
from sidecheck.v1.validation_service_pb2 import ValidateOutcome, ValidateResponse

from sidecheck_server.core.judge import VALID, judge_at_once
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.batches import Batch
from sidecheck_server.rpc.convert import (
    Asked,
    options_from_wire,
    side_of,
    skipped_to_wire,
    target_from_wire,
    valid_to_wire,
    verdict_to_wire,
)
from sidecheck_server.rpc.facts import Told, facts_of
from sidecheck_server.state.targets import Side, Target
from sidecheck_server.state.validation import Standard, Validator

__all__ = ["Case", "Cases"]

_Value = TypeVar("_Value")

_MOST_KEPT = 4096
_LONGEST_KEPT = 1024
_INLINE = frozenset({"inline_tool", "inline_schema"})
"""Cases that are longer, in bytes, are not kept, nor those of what is sent along: a case
holds on to its compiled schema, and of those sent along the cache bounds the memory."""


class Cases:
    """The cases that were judged last."""

    def __init__(self, validator: Validator, registry: Registry, limits: Limits) -> None:
        self._validator = validator
        self._registry = registry
        self._limits = limits
        self._kept: dict[tuple[bytes, bytes], Case] = {}
        self._revision = registry.revision

    def of(self, target: target_pb2.Target, options: options_pb2.ValidationOptions) -> "Case":
        """Return the case of *target* and *options*; what is wrong with them it says itself."""
        revision = self._registry.revision
        if revision != self._revision:
            self._kept = {}
            self._revision = revision
        key = (target.SerializeToString(), options.SerializeToString())
        case = self._kept.get(key)
        if case is None:
            case = Case(target, options, self._validator, self._limits, revision)
            small = len(key[0]) + len(key[1]) <= _LONGEST_KEPT
            if small and target.WhichOneof("target") not in _INLINE:
                if len(self._kept) >= _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = case
        return case

    def still(
        self, case: "Case", target: target_pb2.Target, options: options_pb2.ValidationOptions
    ) -> "Case":
        """Return *case*, of *target* and *options*, or its successor if the registry changed."""
        return case if case.revision == self._registry.revision else self.of(target, options)


@dataclass(frozen=True, slots=True)
class _Ready:
    """What judges subjects of one name."""

    standard: Standard
    side: Side
    #: The answers to a valid payload, always the same.
    valid: Told
    valid_item: ValidateOutcome


class Case:
    """A target and options, and what was found for them."""

    __slots__ = ("_asked", "_ready", "_target", "_validator", "revision")

    def __init__(
        self,
        target: target_pb2.Target,
        options: options_pb2.ValidationOptions,
        validator: Validator,
        limits: Limits,
        revision: int,
    ) -> None:
        self._asked: Asked | Refusal = _read(options_from_wire, options, limits)
        self._target: Target | Refusal = _read(target_from_wire, target)
        self._validator = validator
        self._ready: dict[str | None, _Ready] = {}
        #: The revision of the registry in which the target is looked up.
        self.revision = revision

    def answer_at_once(self, subject: target_pb2.Subject) -> Told | ValidateResponse | None:
        """Return the answer to a call about *subject*, or None if that needs a worker.

        Raises:
            Refusal: a limit is exceeded.
        """
        judged = self._judge_at_once(subject, None)
        if judged is None:
            return None
        verdict, ready, asked = judged
        if verdict is VALID:
            return ready.valid
        answer = _answer(verdict, ready, asked, None)
        return ValidateResponse(verdict=answer, registry_revision=self.revision)

    def item_at_once(self, subject: target_pb2.Subject, batch: Batch) -> ValidateOutcome | None:
        """Return the outcome of an item of *batch*, or None if that needs a worker.

        Raises:
            Refusal: a limit is exceeded.
        """
        judged = self._judge_at_once(subject, batch)
        if judged is None:
            return None
        verdict, ready, asked = judged
        if verdict is VALID:
            return ready.valid_item
        outcome = ValidateOutcome(verdict=_answer(verdict, ready, asked, batch))
        batch.tally.look(outcome)
        return outcome

    def _judge_at_once(
        self, subject: target_pb2.Subject, batch: Batch | None
    ) -> tuple[Verdict, _Ready, Asked] | None:
        name, asked = subject.WhichOneof("subject"), self._asked
        ready = self._ready.get(name)
        if ready is None or isinstance(asked, Refusal):
            return None
        how = asked.how if batch is None else batch.lowered(asked.how)
        verdict = judge_at_once(ready.standard.compiled, getattr(subject, name), how)
        return None if verdict is None else (verdict, ready, asked)

    async def judge(
        self, subject: target_pb2.Subject, batch: Batch | None = None, *, tried: bool = False
    ) -> verdict_pb2.Verdict:
        """Return the verdict on *subject*, whatever it takes.

        *tried* says that it was asked for at once, and was not to be had.

        Raises:
            Refusal: no judgement can be made.
        """
        asked, name = self._asked, subject.WhichOneof("subject")
        if isinstance(asked, Refusal):
            # Raising adds to a traceback; the one that is kept is never raised itself.
            raise copy(asked)
        ready = self._ready.get(name)
        if ready is None:
            side = side_of(name)
            try:
                ready = await self._find(side, asked)
            except Refusal as refusal:
                if refusal.reason is Reason.UNKNOWN_TOOL and asked.skips_unknown_tools:
                    return skipped_to_wire(refusal)
                raise
            self._ready[name] = ready
            tried = False
        how = asked.how if batch is None else batch.lowered(asked.how)
        payload = getattr(subject, name or "")
        verdict = None if tried else judge_at_once(ready.standard.compiled, payload, how)
        if verdict is None:
            if batch is not None:
                batch.take_long()
            verdict = await self._validator.judge_long(ready.standard, payload, how)
        return _answer(verdict, ready, asked, batch)

    async def _find(self, side: Side, asked: Asked) -> _Ready:
        formats = asked.assert_formats
        if isinstance(self._target, Refusal):
            raise copy(self._target)
        standard = await self._validator.find(self._target, side, assert_formats=formats)
        valid = valid_to_wire(standard)
        answer = ValidateResponse(verdict=valid, registry_revision=self.revision)
        told = Told(answer, *facts_of(answer))
        return _Ready(standard, side, told, ValidateOutcome(verdict=valid))


def _answer(
    verdict: Verdict, ready: _Ready, asked: Asked, batch: Batch | None
) -> verdict_pb2.Verdict:
    if not verdict.violations and verdict.repair is None:
        return ready.valid_item.verdict
    if batch is not None:
        batch.tell(verdict)
    return verdict_to_wire(verdict, ready.standard, ready.side, asked)


def _read(from_wire: Callable[..., _Value], *message: object) -> _Value | Refusal:
    try:
        return from_wire(*message)
    except Refusal as refusal:
        return copy(refusal)
