"""Identity of a caller: the roles and the namespaces of its token."""

from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["IDENTITY", "Identity", "Role", "allowed_servers", "check_server"]

_SHOWN = 128
"""How many characters of a name an error repeats."""


class Role(StrEnum):
    """What a token is for."""

    VALIDATE = "validate"
    """Validate, check, convert and infer, and read the registry."""
    REGISTER = "register"
    """Register and delete tools."""
    ADMIN = "admin"
    """Everything."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller, known by its token."""

    #: The name that the operator gave to the token.
    name: str
    roles: frozenset[Role]
    #: The servers whose registered tools it may use; None for those of all servers.
    servers: frozenset[str] | None = None

    def has(self, role: Role) -> bool:
        """Return whether the caller has *role*."""
        return role in self.roles or Role.ADMIN in self.roles


IDENTITY: ContextVar[Identity | None] = ContextVar("IDENTITY", default=None)
"""The caller of the current call, set before its handler runs. None where no token is
required, and for work of the server itself, which may do everything."""


def allowed_servers() -> frozenset[str] | None:
    """Return the servers whose tools the current caller may use, None for all."""
    identity = IDENTITY.get()
    return None if identity is None else identity.servers


def check_server(server: str | None) -> None:
    """Check that the current caller may use the tools of *server*; None stands for all servers.

    Raises:
        RequestError: PERMISSION_DENIED.
    """
    servers = allowed_servers()
    # No tool is registered for a server without a name.
    if servers is None or server in servers or server == "":
        return
    if server is None:
        raise RequestError(
            ErrorReason.PERMISSION_DENIED,
            "the token is limited to some servers; name one of them",
            {"field": "server"},
        )
    # Messages may be logged, and names of a request must not.
    raise RequestError(
        ErrorReason.PERMISSION_DENIED,
        "the token may not use the tools of this server; metadata server names it",
        {"server": server[:_SHOWN]},
    )
