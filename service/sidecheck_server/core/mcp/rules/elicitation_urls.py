"""Elicitation URLs."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_plus

from sidecheck_server.core.explain.values import Values, quote
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

_SINCE = "2025-11-25"
_URL = "ElicitRequestURLParams"
_SAFE = Clause("client/elicitation", "safe-url-handling")
_PATH = ("url",)

#: Parts of a URI (RFC 3986, appendix B).
_PARTS = re.compile(
    r"(?P<scheme>[^:/?#]++):(?://(?:(?P<user>[^/?#@]*+)@)?+(?P<host>\[[^\]]*+\]|[^:/?#]*+)[^/?#]*+)?+"
    r"[^?#]*+(?:\?(?P<query>[^#]*+))?+.*+",
    re.DOTALL,
)

_DEVELOPMENT = re.compile(r"localhost|.*\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]", re.IGNORECASE)

#: Names of parameters that hold only credentials or signatures.
_CREDENTIALS = frozenset(
    {"access_token", "id_token", "refresh_token", "api_key", "apikey", "password", "passwd"}
    | {"client_secret", "jwt", "x-amz-signature", "x-goog-signature"}
)


def _parts(value: Any, context: Context) -> re.Match[str] | None:
    """Return the parts of the URL in *value*, if it is valid."""
    url = value.get("url") if isinstance(value, dict) else None
    if not isinstance(url, str):
        return None
    spend(context.budget, 40 + len(url))
    return _valid(url)


def _valid(url: str) -> re.Match[str] | None:
    parts = _PARTS.fullmatch(url) if is_uri(url) else None
    if parts is None or (parts["scheme"].lower() in ("http", "https") and not parts["host"]):
        return None
    return parts


_URL_RULES = RuleSet(Group.ELICITATION_URLS, on="ElicitRequestURLParams", since=_SINCE)


@_URL_RULES.rule(
    "ELICITATION_URL_INVALID",
    Severity.ERROR,
    Clause("client/elicitation", "url-mode-elicitation-requests"),
    '"url" MUST be a valid URL: a URI with a scheme, and a host for http and https.',
)
def _url_invalid(value: Any, context: Context) -> Iterator[Fault]:
    url = value.get("url") if isinstance(value, dict) else None
    if isinstance(url, str):
        spend(context.budget, 40 + len(url))
        if _valid(url) is None:
            found = Values(hidden=context.hide_values).describe(url)
            yield Fault(_PATH, f'"url" must be a valid URL, found {found}')


@_URL_RULES.rule(
    "ELICITATION_URL_NOT_HTTPS",
    Severity.WARNING,
    _SAFE,
    "The URL SHOULD have the scheme https, except for the local machine in development.",
)
def _url_not_https(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    if parts is None or parts["scheme"].lower() == "https":
        return
    if parts["scheme"].lower() == "http" and _DEVELOPMENT.fullmatch(parts["host"] or ""):
        return
    scheme = "another scheme" if context.hide_values else quote(parts["scheme"])
    yield Fault(_PATH, f'"url" should have the scheme "https", found {scheme}')


@_URL_RULES.rule(
    "ELICITATION_URL_CREDENTIALS",
    Severity.ERROR,
    _SAFE,
    "The URL MUST NOT contain credentials before an @ in its authority.",
)
def _url_credentials(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    if parts is not None and parts["user"]:
        # No part of it is shown: it may be a password.
        yield Fault(_PATH, '"url" must contain no credentials, found a user before "@"')


@_URL_RULES.rule(
    "ELICITATION_URL_PREAUTHENTICATED",
    Severity.WARNING,
    _SAFE,
    "The URL MUST NOT be pre-authenticated. The names of its parameters only suggest it, so "
    "this is a warning.",
)
def _url_preauthenticated(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    query = None if parts is None else parts["query"]
    if not query:
        return
    spend(context.budget, 2 * len(query))
    for parameter in query.split("&"):
        name, equals, item = parameter.partition("=")
        if equals and item and unquote_plus(name).lower() in _CREDENTIALS:
            yield Fault(
                _PATH,
                f'"url" should not be pre-authenticated, found the parameter '
                f"{quote(unquote_plus(name).lower())}",
            )
            return


@_URL_RULES.rule(
    "ELICITATION_URL_SUSPICIOUS",
    Severity.WARNING,
    _SAFE,
    "The host SHOULD NOT be an internationalized name in Punycode, which may resemble "
    "another; clients should warn of it.",
)
def _url_suspicious(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    host = None if parts is None else parts["host"]
    if not host or "xn--" not in host.lower():
        return
    for label in host.lower().split("."):
        if label.startswith("xn--"):
            shown = "" if context.hide_values else f" {quote(label)}, {_describe_label(label)}"
            yield Fault(
                _PATH, f'the host of "url" may resemble another: it has the Punycode label{shown}'
            )
            return


def _describe_label(label: str) -> str:
    """Return the text of the Punycode *label*, with escapes of its non-ASCII characters."""
    try:
        text = label[4:].encode("ascii").decode("punycode") if len(label) <= 63 else ""
    except (UnicodeError, ValueError, OverflowError):
        text = ""
    if not text:
        return "which is malformed"
    return "shown as " + quote(text) + " = " + ascii(text)
