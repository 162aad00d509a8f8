"""URLs that a server asks a user to open."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_plus

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values, quoted
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SINCE = "2025-11-25"
_URL = "ElicitRequestURLParams"
_SAFE = Clause("client/elicitation", "safe-url-handling")
_PATH = ("url",)

#: A URI by its parts, as RFC 3986, appendix B, splits it.
_PARTS = re.compile(
    r"(?P<scheme>[^:/?#]++):(?://(?:(?P<user>[^/?#@]*+)@)?+(?P<host>\[[^\]]*+\]|[^:/?#]*+)[^/?#]*+)?+"
    r"[^?#]*+(?:\?(?P<query>[^#]*+))?+.*+",
    re.DOTALL,
)

_DEVELOPMENT = re.compile(r"localhost|.*\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]", re.IGNORECASE)

#: Names of parameters that hold nothing but a credential or a signature in its place.
_CREDENTIALS = frozenset(
    {"access_token", "id_token", "refresh_token", "api_key", "apikey", "password", "passwd"}
    | {"client_secret", "jwt", "x-amz-signature", "x-goog-signature"}
)


def _parts(value: Any, context: Context) -> re.Match[str] | None:
    """Return the parts of the URL that *value* asks to open, if it is a valid one."""
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


@rule(
    "ELICITATION_URL_INVALID",
    severity=Severity.ERROR,
    clause=Clause("client/elicitation", "url-mode-elicitation-requests"),
    sentence='"url" is a valid URL: a URI with a scheme, and for http and https with a host.',
    on=_URL,
    since=_SINCE,
)
def _url_invalid(value: Any, context: Context) -> Iterator[Fault]:
    url = value.get("url") if isinstance(value, dict) else None
    if isinstance(url, str):
        spend(context.budget, 40 + len(url))
        if _valid(url) is None:
            found = Values(hidden=context.hide_values).found(url)
            yield Fault(_PATH, f'"url" must be a valid URL, found {found}')


@rule(
    "ELICITATION_URL_NOT_HTTPS",
    severity=Severity.WARNING,
    clause=_SAFE,
    sentence="The URL is one of https, unless it leads to this very machine, as in development.",
    on=_URL,
    since=_SINCE,
)
def _url_not_https(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    if parts is None or parts["scheme"].lower() == "https":
        return
    if parts["scheme"].lower() == "http" and _DEVELOPMENT.fullmatch(parts["host"] or ""):
        return
    scheme = "another scheme" if context.hide_values else quoted(parts["scheme"])
    yield Fault(_PATH, f'"url" should have the scheme "https", found {scheme}')


@rule(
    "ELICITATION_URL_CREDENTIALS",
    severity=Severity.ERROR,
    clause=_SAFE,
    sentence="The URL holds no credentials: nothing stands before an @ of its host.",
    on=_URL,
    since=_SINCE,
)
def _url_credentials(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    if parts is not None and parts["user"]:
        # Not even part of it is shown: it may be a password.
        yield Fault(_PATH, '"url" must hold no credentials, found a user before "@" of the host')


@rule(
    "ELICITATION_URL_PREAUTHENTICATED",
    severity=Severity.WARNING,
    clause=_SAFE,
    sentence=(
        "The URL does not give access by itself. The specification forbids it (MUST NOT); but "
        "the names of its parameters only suggest it, and a guess makes nothing invalid."
    ),
    on=_URL,
    since=_SINCE,
)
def _url_preauthenticated(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    query = None if parts is None else parts["query"]
    if not query:
        return
    spend(context.budget, 2 * len(query))
    for parameter in query.split("&"):
        name, equals, held = parameter.partition("=")
        if equals and held and unquote_plus(name).lower() in _CREDENTIALS:
            yield Fault(
                _PATH,
                f'"url" should give no access by itself, found the parameter '
                f"{quoted(unquote_plus(name).lower())}",
            )
            return


@rule(
    "ELICITATION_URL_SUSPICIOUS",
    severity=Severity.WARNING,
    clause=_SAFE,
    sentence="The host is no internationalized name in Punycode, which may look like another; "
    "clients should warn of it.",
    on=_URL,
    since=_SINCE,
)
def _url_suspicious(value: Any, context: Context) -> Iterator[Fault]:
    parts = _parts(value, context)
    host = None if parts is None else parts["host"]
    if not host or "xn--" not in host.lower():
        return
    for label in host.lower().split("."):
        if label.startswith("xn--"):
            shown = "" if context.hide_values else f" {quoted(label)}, {_shown(label)}"
            yield Fault(
                _PATH, f'the host of "url" may look like another: it has the Punycode label{shown}'
            )
            return


def _shown(label: str) -> str:
    """Return how a label of Punycode is shown, with every character that is not ASCII named."""
    try:
        text = label[4:].encode("ascii").decode("punycode") if len(label) <= 63 else ""
    except (UnicodeError, ValueError, OverflowError):
        text = ""
    if not text:
        return "which says nothing"
    return "shown as " + quoted(text) + " = " + ascii(text)


RULES: tuple[Rule, ...] = (
    _url_invalid,
    _url_not_https,
    _url_credentials,
    _url_preauthenticated,
    _url_suspicious,
)
