"""The one way to a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.words import JsonValue, Verdict, Violation

__all__ = ["DISAGREEMENT", "NOT_EXPLAINED", "Judging", "judge"]

DISAGREEMENT = "ENGINE_DISAGREEMENT"
"""The code of the violation that says that the engines differ; never to be seen."""

NOT_EXPLAINED = "NOT_EXPLAINED"
"""The code of the violation of a payload whose faults would take too long to tell."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How to judge."""

    #: The largest number of violations in the verdict; at least one, since a verdict
    #: without any is valid.
    max_violations: int = 20
    #: Whether messages leave out what the payload holds.
    hide_values: bool = False

    def __post_init__(self) -> None:
        if self.max_violations < 1:
            raise ValueError("max_violations must be at least 1")


def judge(compiled: CompiledSchema, payload: bytes, how: Judging) -> Verdict:
    """Return the verdict on the JSON text *payload*.

    Raises:
        Refusal: LIMIT_EXCEEDED, with the bound in its metadata.
    """
    limits = compiled.limits
    if len(payload) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the payload", len(payload))
    try:
        value = decode(payload, max_depth=limits.payload_depth, most=how.max_violations)
    except MalformedError as error:
        return _listing(error.violations, how, ended=not error.truncated)
    if compiled.fast is None:
        return _decide(compiled, value, how)
    if compiled.fast.is_valid(value):
        return Verdict()
    return _explain(compiled, value, how)


def _decide(compiled: CompiledSchema, value: JsonValue, how: Judging) -> Verdict:
    """Let the complete engine say yes or no."""
    found: list[Violation] = []
    ended = True
    try:
        _collect(compiled, value, how, found)
    except (Refusal, RecursionError) as stopped:
        # One violation is enough to know the verdict.
        if not found:
            raise _unjudged(stopped, compiled) from None
        ended = False
    return _listing(found, how, ended=ended)


def _explain(compiled: CompiledSchema, value: JsonValue, how: Judging) -> Verdict:
    """Let the complete engine say why the fast one said no."""
    found: list[Violation] = []
    ended = True
    try:
        _collect(compiled, value, how, found)
    except (Refusal, RecursionError):
        # The verdict is known; only its reasons are too many steps or too deep away.
        ended = False
    if found:
        return _listing(found, how, ended=ended)
    if not ended:
        said = "the payload is invalid, and telling why would take too long"
        return Verdict((Violation("", "", "", NOT_EXPLAINED, said),), truncated=True)
    # Either engine may be wrong. A wrong "no" is seen and reported; a wrong "yes" is not.
    said = "the payload is invalid, but the engines do not agree why; please report this schema"
    return Verdict((Violation("", "", "", DISAGREEMENT, said),))


def _unjudged(stopped: Refusal | RecursionError, compiled: CompiledSchema) -> Refusal:
    if isinstance(stopped, Refusal):
        return stopped
    limit = compiled.limits.complete_steps
    return exceeded("complete_steps", limit, "judging the payload nests too deep")


def _collect(
    compiled: CompiledSchema, value: JsonValue, how: Judging, found: list[Violation]
) -> None:
    """Add violations to *found* until there are more than wanted."""
    lazily = explain(compiled.complete.faults(value), hide_values=how.hide_values)
    found.extend(islice(lazily, how.max_violations + 1))


def _listing(found: Sequence[Violation], how: Judging, *, ended: bool = True) -> Verdict:
    # The first ones found are kept, so that the answer costs no more than they do.
    kept = found[: how.max_violations]
    return Verdict.listing(kept, truncated=not ended or len(found) > len(kept))
