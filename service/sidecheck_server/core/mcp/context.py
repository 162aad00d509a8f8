"""What is known around a value that is checked."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sidecheck_server.core.budget import Budget
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION
from sidecheck_server.core.types import Document

__all__ = ["Context", "Sender"]


class Sender(StrEnum):
    """Who sent a message."""

    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Context:
    """What rules are told beside the value."""

    #: The protocol version whose rules hold; one of `versions.VERSIONS`.
    version: str = DEFAULT_VERSION
    #: Who sent it, or None if that is not known.
    sender: Sender | None = None
    #: What the client declared, or None if that is not known: then nothing needs it.
    client_capabilities: dict[str, Any] | None = None
    #: What the server declared, or None if that is not known.
    server_capabilities: dict[str, Any] | None = None
    #: The `params` of the request that a result answers, or None if not known.
    request: Any = None
    #: Documents that schemas refer to.
    documents: tuple[Document, ...] = ()
    #: Whether messages leave out the values found.
    hide_values: bool = False
    #: What is left of the steps that the check may take (`core.budget`), set anew when
    #: one begins. A rule whose work grows with the value pays for it before it is done.
    budget: Budget = field(default_factory=lambda: [1_000_000])
    #: What several rules read of a part of the value, by what is read and the identity of the
    #: part; the part stands beside it, lest its identity become that of another. `replace`
    #: begins anew.
    readings: dict[tuple[str, int], tuple[Any, Any]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
