"""Identity of a caller: the roles and namespaces of its token."""

from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["IDENTITY", "Identity", "Role", "allowed_servers", "check_server"]

_MAX_NAME_CHARACTERS = 128
"""Maximum characters of a server name in an error."""


class Role(StrEnum):
    """Permission of a token."""

    VALIDATE = "validate"
    """Validate, check, convert and infer, and read the registry."""
    REGISTER = "register"
    """Register and delete tools."""
    ADMIN = "admin"
    """Everything."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller, identified by its token."""

    #: The operator's name for the token.
    name: str
    roles: frozenset[Role]
    #: The servers whose registered tools it may use; None for all servers.
    servers: frozenset[str] | None = None

    def has(self, role: Role) -> bool:
        """Return whether the caller has *role*."""
        return role in self.roles or Role.ADMIN in self.roles


IDENTITY: ContextVar[Identity | None] = ContextVar("IDENTITY", default=None)
"""The caller of the current call, set before its handler runs. None if no token is required, and
for work of the server itself; then access is unlimited."""


def allowed_servers() -> frozenset[str] | None:
    """Return the servers whose tools the current caller may use, None for all."""
    identity = IDENTITY.get()
    return None if identity is None else identity.servers


def check_server(server: str | None) -> None:
    """Check that the caller may use the tools of *server*, or of all for None.

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
    # Messages may be logged, and logs must not contain names from a request.
    raise RequestError(
        ErrorReason.PERMISSION_DENIED,
        'the token may not use the tools of the server that "server" in the metadata names',
        {"server": server[:_MAX_NAME_CHARACTERS]},
    )
