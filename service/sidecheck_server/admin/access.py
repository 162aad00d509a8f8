"""Who may call the methods of the API over HTTP: decided before a body is read."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.admin.problems import HttpError
from sidecheck_server.config.addresses import Address
from sidecheck_server.proxy.http_checks import CallerCheck
from sidecheck_server.rpc.method_table import Method

__all__ = ["Access"]

_JSON: Final = "application/json"


class Access:
    """Rejects cross-origin and DNS-rebinding requests to *address*.

    A page of another origin, open in a browser on this machine, can send requests to it. It
    cannot send JSON without asking first (https://fetch.spec.whatwg.org/#http-cors-protocol),
    and is not answered when it does; the names of host and origin give away a page whose own
    name was made to resolve to this machine.

    Beyond loopback nobody may call, unless *is_open*. *authorizer* looks at the tokens of others.
    """

    def __init__(self, address: str, authorizer: Authorizer, *, is_open: bool = False) -> None:
        parsed = Address.parse(address)
        self._caller_check = CallerCheck(parsed.host, frozenset())
        self._is_closed = not (is_open or parsed.is_loopback())
        self._authorizer = authorizer

    def check(self, headers: Mapping[str, str], method: Method) -> HttpError | None:
        """Return why *method* may not be called with *headers*, None if it may.

        Raises:
            RequestError: the caller is not authorized.
        """
        if rejected := self.check_caller(headers):
            return rejected
        if (
            _media_type(headers) != _JSON
            or headers.get("content-encoding", "identity") != "identity"
        ):
            return HttpError.plain(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"expected a body with the content type {_JSON}, not encoded",
                {"accept": _JSON},
            )
        self._authorizer.authorize(headers.get("authorization"), method.path)
        return None

    def check_caller(self, headers: Mapping[str, str]) -> HttpError | None:
        """Return why who sends *headers* may neither call nor see the page, None if they may."""
        if self._is_closed:
            return HttpError.plain(
                HTTPStatus.FORBIDDEN,
                "beyond loopback, methods are served only if admin_open is set",
            )
        return self.check_host(headers)

    def check_host(self, headers: Mapping[str, str]) -> HttpError | None:
        """Return why a page that sends *headers* may see nothing, None if it may."""
        if fault := self._caller_check.fault(headers):
            return HttpError.plain(HTTPStatus.FORBIDDEN, fault)
        return None


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
