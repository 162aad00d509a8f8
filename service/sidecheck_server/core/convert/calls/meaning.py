"""The meaning of calls: of what arguments can stand for, what the original schema accepts."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.convert.calls.reading import ModelCall
from sidecheck_server.core.convert.plan import Plan
from sidecheck_server.core.convert.restoring import readings
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.repair.repairing import text_of
from sidecheck_server.core.repair.types import Coercion, Repairs
from sidecheck_server.core.types import Change, Verdict

__all__ = ["Meaning", "Meant", "ToJudge"]


@dataclass(frozen=True, slots=True)
class ToJudge:
    """What arguments can stand for, to be judged under the original schema."""

    #: The JSON text.
    payload: bytes
    how: EvaluationOptions


@dataclass(frozen=True, slots=True)
class Meant:
    """What arguments stand for."""

    #: The JSON text.
    payload: bytes
    #: What was done to those that the model sent.
    changes: tuple[Change, ...]
    verdict: Verdict


class Meaning:
    """What the arguments of one call mean, while they are judged.

    Of at most 16 things it is the first that is valid, or else the first that is once
    strings that hold an object or an array are decoded where one is demanded, or else the
    first of all. Whoever has the schema judges what `after` returns until it is what is
    meant.
    """

    def __init__(self, call: ModelCall, plan: Plan, how: EvaluationOptions, limits: Limits) -> None:
        self._steps = _steps(call, plan, how, limits)

    def after(self, verdict: Verdict | None) -> ToJudge | Meant:
        """Return what is to be judged after that *verdict*, None at first, or what is meant.

        Raises:
            Refusal: LIMIT_EXCEEDED if what the plan asks for takes too long.
        """
        try:
            return next(self._steps) if verdict is None else self._steps.send(verdict)
        except StopIteration as end:
            meant: Meant = end.value
            return meant


def _steps(
    call: ModelCall, plan: Plan, how: EvaluationOptions, limits: Limits
) -> Generator[ToJudge, Verdict, Meant]:
    found: list[Meant] = []
    for payload, changes in _payloads(call, plan, limits):
        verdict = yield ToJudge(payload, how)
        one = Meant(payload, changes, verdict)
        if verdict.valid:
            return one
        found.append(one)
    decoding = _decoding(how)
    for one in found:
        verdict = yield ToJudge(one.payload, decoding)
        repair = verdict.repair
        if repair is not None and repair.verdict.valid and not verdict.valid:
            return Meant(repair.payload, (*one.changes, *repair.changes), repair.verdict)
    return found[0]


def _payloads(
    call: ModelCall, plan: Plan, limits: Limits
) -> Iterator[tuple[bytes, tuple[Change, ...]]]:
    """Yield the JSON texts of what arguments can stand for, and what was done to each."""
    budget = [limits.steps]
    depth = limits.payload_depth
    try:
        for one in readings(call.arguments, plan.guide, budget, max_depth=depth):
            yield text_of(one.value, limits, budget), one.changes
    except Exhausted:
        said = "turning the arguments back takes too long"
        raise exceeded("steps", limits.steps, said) from None


def _decoding(how: EvaluationOptions) -> EvaluationOptions:
    repairs = how.repairs or Repairs()
    if repairs.coercion is Coercion.NONE:
        repairs = replace(repairs, coercion=Coercion.JSON_STRINGS)
    return replace(how, repairs=repairs)
