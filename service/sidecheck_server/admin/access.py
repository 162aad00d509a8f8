"""Access control of the HTTP API, applied before a body is read."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.admin.problems import HttpError
from sidecheck_server.config.addresses import Address
from sidecheck_server.proxy.http.checks import CallerCheck
from sidecheck_server.rpc.method_table import Method

__all__ = ["Access"]

_JSON: Final = "application/json"
_LONGEST_SHOWN: Final = 100
"""Most characters of a header that an error repeats."""


class Access:
    """Rejects cross-origin and DNS-rebinding requests to *address*.

    A page of another origin, open in a browser on this machine, can send requests to it. For
    JSON, the browser sends a preflight request first
    (https://fetch.spec.whatwg.org/#http-cors-protocol), which the server does not grant. The
    host and origin headers reveal a page whose host name was rebound to this machine.

    At an address other than loopback, all calls are rejected unless *is_open*. *authorizer*
    checks the tokens of the remaining calls.
    """

    def __init__(self, address: str, authorizer: Authorizer, *, is_open: bool = False) -> None:
        parsed = Address.parse(address)
        self._caller_check = CallerCheck(parsed.host)
        self._is_closed = not (is_open or parsed.is_loopback())
        self._authorizer = authorizer

    def check(self, headers: Mapping[str, str], method: Method) -> HttpError | None:
        """Return the error of a call of *method* with *headers*, None if it may proceed.

        Raises:
            RequestError: the caller is not authorized.
        """
        if rejection := self.check_caller(headers):
            return rejection
        if fault := _content_fault(headers):
            return HttpError.plain(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, fault, {"accept": _JSON})
        # Decision 0065: tokens are checked before the body is read.
        self._authorizer.authorize(headers.get("authorization"), method.path)
        return None

    def check_caller(self, headers: Mapping[str, str]) -> HttpError | None:
        """Return the error of any request with *headers* to the API or the page, or None."""
        if self._is_closed:
            return HttpError.plain(
                HTTPStatus.FORBIDDEN,
                "beyond loopback, methods are served only if admin_open is set",
            )
        return self.check_host(headers)

    def check_host(self, headers: Mapping[str, str]) -> HttpError | None:
        """Return the error of a foreign host or origin in *headers*, or None."""
        if header := self._caller_check.find_fault(headers):
            return HttpError.plain(HTTPStatus.FORBIDDEN, f"this {header.lower()} is not allowed")
        return None


def _content_fault(headers: Mapping[str, str]) -> str | None:
    """Return what is wrong with the content type or encoding in *headers*, or None."""
    content_type = headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != _JSON:
        found = f'"{content_type[:_LONGEST_SHOWN]}"' if content_type else "none"
        return f"expected the content type {_JSON}, found {found}"
    encoding = headers.get("content-encoding", "identity")
    if encoding != "identity":
        return f'expected a body without a content encoding, found "{encoding[:_LONGEST_SHOWN]}"'
    return None
