"""Forms: what a definition becomes for an API, but for its name there."""

from dataclasses import dataclass

from sidecheck_server.core.convert.counting import Counts
from sidecheck_server.core.convert.guides import Guide
from sidecheck_server.core.convert.words import Loss

__all__ = ["Form"]


@dataclass(frozen=True, slots=True)
class Form:
    """A tool in the form of an API, without its name."""

    #: The original name.
    tool: str
    definition_digest: str
    #: "" if there is none.
    description: str
    #: The schema as JSON text; None if the API wants none for a tool that takes nothing.
    parameters: bytes | None
    #: The original output schema as JSON text, if it goes along.
    output_schema: bytes | None
    #: Whether the API is asked to hold the model to the schema; None if it cannot be asked.
    strict: bool | None
    guide: Guide | None
    losses: tuple[Loss, ...]
    #: Why it is not strict though that is preferred, or "".
    not_strict_reason: str
    counts: Counts

    @property
    def length(self) -> int:
        """How much text it holds, about, beside its guide."""
        texts = (self.parameters or b"", self.output_schema or b"", self.description)
        told = sum(len(loss.pointer) + len(loss.message) for loss in self.losses)
        return sum(map(len, texts)) + told
