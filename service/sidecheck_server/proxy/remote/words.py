"""Explanations for the client of a server over HTTP that does not respond as it should."""

import os
import re
from collections.abc import Collection
from http import HTTPStatus

import aiohttp
import msgspec
from yarl import URL

from sidecheck_server.proxy.http.upstream import UpstreamError, UpstreamResponse
from sidecheck_server.proxy.messages import Message, read_message, read_object, string_value

__all__ = ["ErrorAnswer", "ServerWords"]

_MAX_CAUSE_CHARACTERS = 300
_TEXT_TYPES = frozenset({"text/plain", "application/problem+json", "application/json"})
_CAUSE_KEYS = ("error_description", "detail", "message", "error", "title")
"""Keys of the cause in the body of an error, the most specific first (RFC 6749, RFC 9457)."""

_DESCRIPTION = re.compile(r'error_description="([^"]*+)"')
"""The parameter of WWW-Authenticate (RFC 6750, section 3)."""

_GIVE_TOKEN = "give a token by SIDECHECK_UPSTREAM_TOKEN or --header"  # noqa: S105
_CHECK_TOKEN = "check the token of SIDECHECK_UPSTREAM_TOKEN or --header"  # noqa: S105
_SESSION_ENDED = "the session has ended; connect again, or use --reconnect"


class ErrorAnswer(msgspec.Struct, frozen=True):
    """Why the server rejected a request."""

    #: Explanation without values of the server.
    note: str
    #: Explanation with the cause that the server gave.
    text: str
    #: JSON text of the error of the server itself, to pass on; b"" without one.
    error: bytes = b""


class ServerWords:
    """Explanations about the server at *url*, which never contain *secrets*."""

    def __init__(self, url: str, secrets: Collection[str]) -> None:
        parsed = URL(url)
        self._name = f"the server at {parsed.host_port_subcomponent}"
        self._has_credentials = bool(secrets)
        self._secrets = [secret for secret in (*secrets, parsed.password or "") if secret]

    def say(self, predicate: str) -> str:
        """Return the sentence that the server *predicate*."""
        return f"{self._name} {predicate}"

    def unreachable(self, error: UpstreamError) -> str:
        """Return the reason of *error*, for a request without a response."""
        match error.__cause__:
            case aiohttp.ClientConnectorCertificateError() as cause:
                reason = f"has a certificate that is not accepted: {cause.certificate_error}"
            case aiohttp.ClientConnectorError() as cause:
                reason = f"cannot be reached: {_os_reason(cause.os_error)}"
            case TimeoutError():
                reason = "cannot be reached: it accepts no connection in time"
            case _:
                reason = "closed the connection before its response was complete"
        return self._redact(self.say(reason))

    def error_answer(
        self, response: UpstreamResponse, body: bytes, *, in_session: bool
    ) -> ErrorAnswer:
        """Return why the server answered with *response*, a redirection or an error."""
        message = read_message(body)
        error = message.properties.get("error", b"") if isinstance(message, Message) else b""
        remedy = self._remedy(response, in_session=in_session)
        cause = self._redact(_cause(response, body))
        head = self.say(f"answered {_status_text(response.status)}")
        note = f"{head}; {remedy}" if remedy else head
        text = f"{head}: {cause}" if cause else head
        text = f"{text}; {remedy}" if remedy else text
        # The remedy for credentials is known here only.
        is_own = read_object(error) is not None and response.status not in {401, 403}
        return ErrorAnswer(note, text, error if is_own else b"")

    def _remedy(self, response: UpstreamResponse, *, in_session: bool) -> str:
        match response.status:
            case 401:
                return _CHECK_TOKEN if self._has_credentials else _GIVE_TOKEN
            case 403:
                return _CHECK_TOKEN if self._has_credentials else ""
            case 404:
                return _SESSION_ENDED if in_session else "check the path of --upstream"
            case 405:
                return "check the path of --upstream"
        if response.location is not None:
            try:
                location = URL(response.location)
            except ValueError:
                return ""
            # The query may have secrets.
            return f"give {location.with_query(None).with_user(None)} as --upstream"
        return ""

    def _redact(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def _os_reason(error: OSError) -> str:
    # asyncio replaces the text of a failed connection; a name that is not found has a number < 0.
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or type(error).__name__


def _status_text(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status}"


def _cause(response: UpstreamResponse, body: bytes) -> str:
    """Return the cause in *response* with *body* as one line; "" without one."""
    text = ""
    if described := _DESCRIPTION.search(response.headers.get("www-authenticate", "")):
        text = described[1]
    elif response.media_type in _TEXT_TYPES:
        properties = read_object(body)
        nested = read_object((properties or {}).get("error", b"")) or {}
        both = {**nested, **{key: value for key, value in (properties or {}).items() if not nested}}
        text = next((string for key in _CAUSE_KEYS if (string := string_value(both.get(key)))), "")
        if properties is None and response.media_type == "text/plain":
            text = body.decode("utf-8", "replace")
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    is_long = len(words) > _MAX_CAUSE_CHARACTERS
    return f"{words[:_MAX_CAUSE_CHARACTERS]}…" if is_long else words
