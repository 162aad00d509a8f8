"""Names of tools, and of members, that an API takes: each one's own, and the same each time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sidecheck_server.core.convert.words import ServerPrefix
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = ["Named", "member_names", "tool_names"]


@dataclass(frozen=True, slots=True)
class Named:
    """A tool by the names it has."""

    server: str
    name: str


def tool_names(tools: Sequence[Named], grammar: NameGrammar, prefix: ServerPrefix) -> list[str]:
    """Return the name that each of *tools*, no two of which are equal, has in the API."""
    raise NotImplementedError


def member_names(names: Iterable[str], grammar: NameGrammar) -> Mapping[str, str]:
    """Return those of *names* that *grammar* does not allow, with the ones in their place.

    No new name is one of *names*.
    """
    raise NotImplementedError
