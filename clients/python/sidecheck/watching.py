"""Values of a watch: changes of registered tools, and checkpoints between them."""

from dataclasses import dataclass
from typing import TypeAlias

from sidecheck.registry import Tool

__all__ = ["Checkpoint", "ToolsChange", "WatchEvent"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A revision up to which all changes were sent. A watch can begin after it."""

    revision: int
    #: Identity of the change that led to the revision; "" if it is not known.
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChange:
    """The change of one revision, in the namespace of one server."""

    revision: int
    #: Identity of the change.
    id: str
    server: str
    #: Tools that were registered or replaced, sorted by name.
    registered: tuple[Tool, ...] = ()
    #: Names of the tools that were deleted, sorted.
    deleted: tuple[str, ...] = ()

    @property
    def checkpoint(self) -> Checkpoint:
        """The position after the change."""
        return Checkpoint(self.revision, self.id)


#: An event of a watch.
WatchEvent: TypeAlias = ToolsChange | Checkpoint
