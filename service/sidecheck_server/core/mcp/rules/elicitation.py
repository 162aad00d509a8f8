"""Rules on elicitation requests, in the form mode and in the url mode."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote_plus

from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import Values, join_phrase, quote
from sidecheck_server.core.formats.identifiers import is_uri
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import find_client_capabilities
from sidecheck_server.core.mcp.rules.elicitation_grammar import (
    REQUESTED_SCHEMA,
    find_nearest_keyword,
    has_modes,
)
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, Path, RuleSet
from sidecheck_server.core.mcp.rules.secrets import asks_for_secret, names_secret, shows_link
from sidecheck_server.core.types import Severity

_SINCE = "2025-06-18"
_MODES = "2025-11-25"
_FORM = "ElicitRequestFormParams"
_URL = "ElicitRequestURLParams"

#: Allowed keywords at the root of a form.
_ROOT_KEYWORDS = ("type", "properties", "required", "$schema")
_ANNOTATIONS = ("title", "description")


def _get_form_schema(value: Any, context: Context) -> dict[str, Any] | None:
    """Return the requested schema of the params *value*, or None without a form."""
    if not isinstance(value, dict) or (value.get("mode") == "url" and has_modes(context.version)):
        return None
    schema = value.get("requestedSchema")
    return schema if isinstance(schema, dict) else None


def _get_fields(schema: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return the fields of a form by name."""
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return {}
    spend(context.budget, 20 * len(fields))
    return fields


_REQUEST_RULES = RuleSet(Group.ELICITATION_REQUESTS, on=_FORM, since=_SINCE)


@_REQUEST_RULES.rule(
    "ELICITATION_MODE_NOT_DECLARED",
    Severity.ERROR,
    Clause("client/elicitation", "capabilities"),
    "A server MUST request only modes that the client declared; an empty "
    '"elicitation" declares the form mode. Clients of 2025-11-25 respond with -32602 '
    "(Invalid params).",
    on=(_FORM, _URL),
    since=_MODES,
)
def _mode_declared(value: Any, context: Context) -> Iterable[Fault]:
    declared = find_client_capabilities(context)
    elicitation = None if declared is None else declared.get("elicitation")
    # CAPABILITY_UNDECLARED reports a client that did not declare elicitation at all.
    if not isinstance(value, dict) or not isinstance(elicitation, dict):
        return ()
    mode = value.get("mode", "form")
    # Only a declaration with url and without form excludes the form mode.
    allows_form = "form" in elicitation or "url" not in elicitation
    lacks_mode = (mode == "form" and not allows_form) or (
        mode == "url" and "url" not in elicitation
    )
    if not lacks_mode:
        return ()
    path = ("mode",) if "mode" in value else ()
    return (Fault(path, f"the client did not declare the capability elicitation.{mode}"),)


@_REQUEST_RULES.rule(
    "ELICITATION_ROOT_KEYWORD",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "The root of a form SHOULD have only type, properties, required and, since 2025-11-25, "
    "$schema: forms are flat, and clients need not support other keywords. The published "
    "schema accepts them.",
)
def _root_keyword(value: Any, context: Context) -> Iterable[Fault]:
    schema = _get_form_schema(value, context)
    if schema is None:
        return ()
    # The published schema has $schema since 2025-11-25.
    allowed_names = _ROOT_KEYWORDS if has_modes(context.version) else _ROOT_KEYWORDS[:3]
    expected = join_phrase([f'"{name}"' for name in allowed_names], "and")
    spend(context.budget, 10 * len(schema))
    faults = []
    for name in schema:
        if name not in allowed_names and name not in _ANNOTATIONS:
            label = Values(hidden=context.hide_values).property_named(name, "keyword")
            message = (
                f"the schema of a form should not have the {label} at its root; expected only "
                f"{expected}"
            )
            suggestion = find_nearest_keyword(name, allowed_names, context)
            faults.append(Fault(("requestedSchema", name), message, suggestion))
    return faults


@_REQUEST_RULES.rule(
    "ELICITATION_ROOT_ANNOTATION",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "The root of a form SHOULD NOT have a title or a description: clients need not show "
    "them. Schema generators write them and they change no response, so this is not an error.",
)
def _root_annotation(value: Any, context: Context) -> Iterable[Fault]:
    schema = _get_form_schema(value, context)
    if schema is None or not ("title" in schema or "description" in schema):
        return ()
    return [
        Fault(
            ("requestedSchema", name),
            f'the schema of a form should have no "{name}" at its root; use "message"',
            "message",
        )
        for name in _ANNOTATIONS
        if name in schema
    ]


@_REQUEST_RULES.rule(
    "ELICITATION_REQUIRED_UNDEFINED",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "A form SHOULD NOT require a property that is not one of its fields: a user has "
    "no field to fill in.",
)
def _required_undefined(value: Any, context: Context) -> Iterable[Fault]:
    schema = _get_form_schema(value, context)
    required = None if schema is None else schema.get("required")
    if schema is None or not isinstance(required, list):
        return ()
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return ()
    spend(context.budget, 20 * len(fields) + 10 * len(required))
    reported_names: set[str] = set()
    faults = []
    for index, name in enumerate(required):
        if isinstance(name, str) and name not in fields and name not in reported_names:
            reported_names.add(name)
            faults.append(_build_undefined_fault(name, index, fields, context))
    return faults


def _build_undefined_fault(
    name: str, index: int, fields: dict[str, Any], context: Context
) -> Fault:
    # `find_nearest` compares the name with at most two hundred fields.
    spend(context.budget, 100 + 100 * min(len(fields), 200))
    label = Values(hidden=context.hide_values).property_named(name, "field")
    return Fault(
        ("requestedSchema", "required", index),
        f'the {label} is required, but is not among "properties"',
        "" if context.hide_values else find_nearest(name, fields),
    )


@_REQUEST_RULES.rule(
    "ELICITATION_REQUIRED_REPEATED",
    Severity.ERROR,
    REQUESTED_SCHEMA,
    "A form MUST NOT require a field twice: JSON Schema demands unique names.",
)
def _required_repeated(value: Any, context: Context) -> Iterable[Fault]:
    schema = _get_form_schema(value, context)
    required = None if schema is None else schema.get("required")
    if not isinstance(required, list):
        return ()
    spend(context.budget, 10 * len(required))
    unique_names: set[str] = set()
    faults = []
    for index, name in enumerate(required):
        if not isinstance(name, str):
            continue
        if name in unique_names:
            label = Values(hidden=context.hide_values).property_named(name, "field")
            message = f"the {label} is required more than once"
            faults.append(Fault(("requestedSchema", "required", index), message))
        unique_names.add(name)
    return faults


@_REQUEST_RULES.rule(
    "ELICITATION_SENSITIVE_FIELD",
    Severity.WARNING,
    Clause("client/elicitation", "user-interaction-model"),
    "A form MUST NOT ask for passwords, API keys, access tokens or payment credentials. "
    "Names and texts only suggest what a field asks for, so this is a warning.",
)
def _sensitive_field(value: Any, context: Context) -> Iterator[Fault]:
    schema = _get_form_schema(value, context)
    if schema is None:
        return
    is_sensitive = False
    for name, field in _get_fields(schema, context).items():
        if not _is_free_text(field):
            continue
        secret = names_secret(name, context.budget)
        title, description = field.get("title"), field.get("description")
        if not secret and isinstance(title, str):
            secret = names_secret(title, context.budget)
        if not secret and isinstance(description, str):
            secret = asks_for_secret(description, context.budget)
        if secret:
            is_sensitive = True
            label = Values(hidden=context.hide_values).property_named(name, "field")
            path = ("requestedSchema", "properties", name)
            yield Fault(path, f"the {label} {_describe_request(secret, context)}")
    message = value.get("message")
    if not is_sensitive and isinstance(message, str):
        secret = asks_for_secret(message, context.budget)
        if secret:
            yield Fault(("message",), f"the message {_describe_request(secret, context)}")


def _describe_request(secret: str, context: Context) -> str:
    label = "a secret" if context.hide_values else quote(secret)
    remedy = "use url mode" if has_modes(context.version) else "a server must not ask for it"
    return f"seems to ask for {label}; {remedy}"


def _is_free_text(field: Any) -> bool:
    # A choice, a number or a boolean is not a secret, whatever its name.
    return (
        isinstance(field, dict)
        and field.get("type") == "string"
        and not ("enum" in field or "oneOf" in field or "format" in field)
    )


@_REQUEST_RULES.rule(
    "ELICITATION_LINK_IN_FORM",
    Severity.WARNING,
    Clause("client/elicitation", "safe-url-handling"),
    "The texts of a form SHOULD NOT contain clickable URLs; url mode exists for them. "
    "A default is data and may be a URL.",
    since=_MODES,
)
def _link_in_form(value: Any, context: Context) -> Iterator[Fault]:
    schema = _get_form_schema(value, context)
    if schema is None:
        return
    texts: list[tuple[Path, Any]] = [(("message",), value.get("message"))]
    for name, field in _get_fields(schema, context).items():
        if isinstance(field, dict):
            for keyword in _ANNOTATIONS:
                if keyword in field:
                    path = ("requestedSchema", "properties", name, keyword)
                    texts.append((path, field[keyword]))
    for location, text in texts:
        if isinstance(text, str) and shows_link(text, context.budget):
            yield Fault(location, "the texts of a form should not contain URLs; use url mode")


_SAFE = Clause("client/elicitation", "safe-url-handling")
_PATH = ("url",)

#: Parts of a URI (RFC 3986, appendix B).
_PARTS = re.compile(
    r"(?P<scheme>[^:/?#]++):(?://(?:(?P<user>[^/?#@]*+)@)?+(?P<host>\[[^\]]*+\]|[^:/?#]*+)[^/?#]*+)?+"
    r"[^?#]*+(?:\?(?P<query>[^#]*+))?+.*+",
    re.DOTALL,
)

_DEVELOPMENT = re.compile(r"localhost|.*\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]", re.IGNORECASE)

#: Names of parameters whose values are always credentials or signatures.
_CREDENTIALS = frozenset(
    {"access_token", "id_token", "refresh_token", "api_key", "apikey", "password", "passwd"}
    | {"client_secret", "jwt", "x-amz-signature", "x-goog-signature"}
)


def _read_url(value: Any, context: Context) -> re.Match[str] | None:
    """Return the parts of the URL in *value*, or None if it is invalid."""
    url = value.get("url") if isinstance(value, dict) else None
    if not isinstance(url, str):
        return None
    spend(context.budget, 40 + len(url))
    return _parse_url(url)


def _parse_url(url: str) -> re.Match[str] | None:
    parts = _PARTS.fullmatch(url) if is_uri(url) else None
    if parts is None or (parts["scheme"].lower() in ("http", "https") and not parts["host"]):
        return None
    return parts


_URL_RULES = RuleSet(Group.ELICITATION_URLS, on=_URL, since=_MODES)


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
        if _parse_url(url) is None:
            description = Values(hidden=context.hide_values).describe(url)
            yield Fault(_PATH, f'"url" must be a valid URL, found {description}')


@_URL_RULES.rule(
    "ELICITATION_URL_NOT_HTTPS",
    Severity.WARNING,
    _SAFE,
    "The URL SHOULD have the scheme https, except for the local machine in development.",
)
def _url_not_https(value: Any, context: Context) -> Iterator[Fault]:
    parts = _read_url(value, context)
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
    parts = _read_url(value, context)
    if parts is not None and parts["user"]:
        # The message quotes nothing of it, since it may be a password.
        yield Fault(_PATH, '"url" must contain no credentials, found a user before "@"')


@_URL_RULES.rule(
    "ELICITATION_URL_PREAUTHENTICATED",
    Severity.WARNING,
    _SAFE,
    "The URL MUST NOT be pre-authenticated. The names of its parameters only suggest it, so "
    "this is a warning.",
)
def _url_preauthenticated(value: Any, context: Context) -> Iterator[Fault]:
    parts = _read_url(value, context)
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
    parts = _read_url(value, context)
    host = None if parts is None else parts["host"]
    if not host or "xn--" not in host.lower():
        return
    for label in host.lower().split("."):
        if label.startswith("xn--"):
            details = "" if context.hide_values else f" {quote(label)}, {_describe_label(label)}"
            yield Fault(
                _PATH, f'the host of "url" may resemble another: it has the Punycode label{details}'
            )
            return


def _describe_label(label: str) -> str:
    """Return the text of the Punycode *label*, plain and with ASCII escapes."""
    try:
        text = label[4:].encode("ascii").decode("punycode") if len(label) <= 63 else ""
    except (UnicodeError, ValueError, OverflowError):
        text = ""
    if not text:
        return "which is malformed"
    return "shown as " + quote(text) + " = " + ascii(text)
