"""Authorization of calls, whatever carries them, by tokens and the roles of methods."""

import re
from typing import Final

from sidecheck_server.access.identity import IDENTITY, Identity
from sidecheck_server.access.method_roles import roles_of
from sidecheck_server.access.tokens_file import TokensFile
from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["Authorizer"]

#: RFC 6750, section 2.1; the name of the scheme is in any case (RFC 9110, section 11.1).
_BEARER: Final = re.compile(r"bearer +([\x21-\x7e]+)", re.IGNORECASE)


class Authorizer:
    """Authorizes calls by *tokens*; without them, all calls."""

    def __init__(self, tokens: TokensFile | None = None) -> None:
        self._tokens = tokens

    @property
    def requires_tokens(self) -> bool:
        """Whether callers need tokens."""
        return self._tokens is not None

    def authorize(self, authorization: str | None, method: str) -> Identity | None:
        """Check that a caller may call *method*, and return who it is.

        *authorization* is the value of the header or metadata ``authorization``, None if there
        is none; *method* is ``service/name``. Sets `IDENTITY` in the current context, which
        must be that of the call alone: it bounds what the call may use of the registry.
        Returns None if nobody needs a token, for this method or at all.

        Raises:
            RequestError: UNAUTHENTICATED without a valid token; PERMISSION_DENIED if it lacks
                a role.
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
