"""Options of portable forms: definitions that model APIs and clients accept as they are."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Portability"]


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
