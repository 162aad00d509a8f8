"""Inputs of a comparison of tools."""

from dataclasses import dataclass

__all__ = ["ServerTools"]


@dataclass(frozen=True, slots=True)
class ServerTools:
    """Registered tools of a server, to compare."""

    #: Namespace of the server.
    server: str
    #: Names of the tools; empty for all.
    names: tuple[str, ...] = ()
