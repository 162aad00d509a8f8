"""What tools return, each told apart by who returns it: nothing is guessed from a value."""

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Content", "Failure", "Returned", "Value", "Whole"]


@dataclass(frozen=True, slots=True)
class Value:
    """Data, as JSON text."""

    json: bytes

    @property
    def size(self) -> int:
        """The length of its text."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class Content:
    """One content block or a list of them, as JSON text."""

    json: bytes

    @property
    def size(self) -> int:
        """The length of its text."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole ``CallToolResult``, as JSON text.

    Its structured content is as the tool's definition has it, not as the version wants it.
    """

    json: bytes

    @property
    def size(self) -> int:
        """The length of its text."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong: the tool failed."""

    text: str

    @property
    def size(self) -> int:
        """The length of its text."""
        return len(self.text)


Returned: TypeAlias = Value | Content | Whole | Failure
