"""Inputs of a comparison of tools."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["CompatibilityPolicy", "ServerTools"]

#: Policy for a definition that is not compatible with the registered one: do not compare
#: ("ignore"), register it with a warning ("report"), reject it if it breaks callers
#: ("reject-breaking"), or also if that is undecided ("reject-undecided").
CompatibilityPolicy: TypeAlias = Literal["ignore", "report", "reject-breaking", "reject-undecided"]


@dataclass(frozen=True, slots=True)
class ServerTools:
    """Registered tools of a server, to compare."""

    #: Namespace of the server.
    server: str
    #: Names of the tools; empty for all.
    names: tuple[str, ...] = ()
