"""Authorization of calls by tokens and roles, independent of the transport."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sidecheck_server.access.identity import IDENTITY, Identity, Role
from sidecheck_server.access.tokens import TokensFile
from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["ANY_TOKEN", "METHOD_ROLES", "NO_TOKEN", "Authorizer", "roles_of"]

#: Roles of methods that need no token.
NO_TOKEN: Final = None
#: Roles of methods that need any valid token.
ANY_TOKEN: Final[frozenset[Role]] = frozenset()

_VALIDATE: Final = frozenset({Role.VALIDATE})
_REGISTER: Final = frozenset({Role.REGISTER})
_ADMIN: Final = frozenset({Role.ADMIN})
#: Gateways validate messages, and register the tools that servers list.
_GATEWAY: Final = _VALIDATE | _REGISTER

METHOD_ROLES: Final[Mapping[str, frozenset[Role] | None]] = MappingProxyType(
    {
        "sidecheck.v1.ValidationService/Validate": _VALIDATE,
        "sidecheck.v1.ValidationService/ValidateBatch": _VALIDATE,
        "sidecheck.v1.ValidationService/ValidateStream": _VALIDATE,
        "sidecheck.v1.ProtocolService/ListRules": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckToolNames": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckTools": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckElicitation": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckElicitationResult": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckSampling": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckToolResult": _VALIDATE,
        "sidecheck.v1.ProtocolService/NormalizeToolResult": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckMessage": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckBatch": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckSession": _VALIDATE,
        "sidecheck.v1.ConversionService/ConvertTools": _VALIDATE,
        "sidecheck.v1.ConversionService/ConvertToolCall": _VALIDATE,
        "sidecheck.v1.ConversionService/ConvertToolResult": _VALIDATE,
        "sidecheck.v1.InferenceService/InferTools": _VALIDATE,
        "sidecheck.v1.InferenceService/AdaptTool": _VALIDATE,
        "sidecheck.v1.RegistryService/RegisterTools": _REGISTER,
        "sidecheck.v1.RegistryService/GetTool": _VALIDATE,
        "sidecheck.v1.RegistryService/ListTools": _VALIDATE,
        "sidecheck.v1.RegistryService/DeleteTools": _REGISTER,
        "sidecheck.v1.RegistryService/WatchTools": _VALIDATE,
        "sidecheck.v1.RegistryService/CompareTools": _VALIDATE,
        # Clients with any role read the limits.
        "sidecheck.v1.InfoService/GetServerInfo": ANY_TOKEN,
        "envoy.service.ext_proc.v3.ExternalProcessor/Process": _GATEWAY,
        "agentgateway.dev.ext_mcp.ExtMcp/CheckRequest": _GATEWAY,
        "agentgateway.dev.ext_mcp.ExtMcp/CheckResponse": _GATEWAY,
        # Probes have no token.
        "grpc.health.v1.Health/Check": NO_TOKEN,
        "grpc.health.v1.Health/Watch": NO_TOKEN,
        # It lists the services, as reflection does.
        "grpc.health.v1.Health/List": ANY_TOKEN,
        "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": ANY_TOKEN,
    }
)


def roles_of(method: str) -> frozenset[Role] | None:
    """Return the roles that calls of *method* need; a caller must have all of them.

    Methods that are not in the table are for administrators.
    """
    return METHOD_ROLES.get(method, _ADMIN)


#: RFC 6750, section 2.1. The scheme is case-insensitive (RFC 9110, section 11.1).
_BEARER: Final = re.compile(r"bearer +([\x21-\x7e]+)", re.IGNORECASE)


class Authorizer:
    """Authorizes calls by *tokens*; with None, every call is allowed."""

    def __init__(self, tokens: TokensFile | None = None) -> None:
        self._tokens = tokens

    @property
    def requires_tokens(self) -> bool:
        """Whether callers need tokens."""
        return self._tokens is not None

    def authorize(self, authorization: str | None, method: str) -> Identity | None:
        """Check that a caller may call *method*, and return its identity.

        *authorization* is the value of the header or metadata ``authorization``, or None;
        *method* is ``service/name``. This sets `IDENTITY` in the current context, which must
        belong to this call only: it limits the access of the call to the registry. The result
        is None if the method or the server requires no token.

        Raises:
            RequestError: UNAUTHENTICATED without a valid token; PERMISSION_DENIED if the token
                lacks a role.
        """
        roles = roles_of(method)
        if self._tokens is None or roles is None:
            return None
        identity = self._identify(self._tokens, authorization)
        IDENTITY.set(identity)
        missing = sorted(role for role in roles if not identity.has(role))
        if missing:
            raise RequestError(
                ErrorReason.PERMISSION_DENIED,
                f"the token lacks the role {missing[0]}, which {method} needs",
                {"role": missing[0], "method": method},
            )
        return identity

    def _identify(self, tokens: TokensFile, authorization: str | None) -> Identity:
        if authorization is None:
            raise RequestError(
                ErrorReason.UNAUTHENTICATED,
                'the call has no token; send "authorization: Bearer TOKEN" in its metadata',
            )
        match = _BEARER.fullmatch(authorization)
        identity = tokens.find(match[1]) if match else None
        if identity is None:
            raise RequestError(
                ErrorReason.UNAUTHENTICATED, "the token of the call is unknown or malformed"
            )
        return identity
