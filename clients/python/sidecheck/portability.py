"""Values of portable forms: definitions that model APIs and clients accept as they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sidecheck.json_types import JsonText
from sidecheck.losses import Effect, Loss
from sidecheck.values.comparison import (
    Witness,
)

__all__ = ["Portability", "PortabilityProof", "PortableForm", "ProofOutcome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Portability:
    """Options of a portable form.

    Raises:
        TypeError: *targets* is a single string.
    """

    #: Model APIs and clients that must accept the definition, named as for ``sidecheck check
    #: --for``, for example "openai" or "claude-code". () means all but "openai-strict".
    targets: Sequence[str] = ()
    #: Whether to prove that the form accepts every call that the original accepts.
    prove: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.targets, str):
            raise TypeError("targets must be a sequence of strings, not a single string")


class ProofOutcome(StrEnum):
    """Relation of the calls that a portable form accepts to those of the original."""

    #: Both provably accept the same calls.
    EQUIVALENT = "equivalent"
    #: The form provably accepts every call of the original, and possibly others.
    WIDER = "wider"
    #: Neither a proof nor a counterexample was found.
    UNDECIDED = "undecided"
    #: The original accepts a call that the form rejects.
    NARROWER = "narrower"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class PortabilityProof:
    """Comparison of a portable form with its original, with the mapping applied."""

    outcome: ProofOutcome
    #: Why the outcome is undecided or narrower; "" otherwise. A form that is narrower although no
    #: loss is `Effect.NARROWED` is a defect of the server, which this text says.
    message: str = ""
    #: Arguments that only the original accepts.
    witness: Witness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableForm:
    """What a portable definition lost, and the mapping that converts its calls back."""

    #: The mapping for `convert_tool_call`, whose call is the ``params`` of a ``tools/call``.
    mapping: JsonText
    #: All differences from the original definition, ordered by location.
    losses: tuple[Loss, ...] = ()
    #: The worst effect of the losses on the set of accepted calls.
    effect: Effect = Effect.EQUIVALENT
    #: None unless a proof was requested.
    proof: PortabilityProof | None = None
