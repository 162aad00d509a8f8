"""Rules on content blocks, resources and icons."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.identifiers import is_uri, is_uri_template
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Check, Clause, Fault, Group, RuleSet, type_clause
from sidecheck_server.core.mcp.text_encodings import (
    base64_fault,
    is_iso_8601,
    is_media_type,
    read_data_uri,
)
from sidecheck_server.core.types import Severity

_IMAGE = Clause("server/prompts", "image-content")
_AUDIO = Clause("server/prompts", "audio-content")
_EMBEDDED = Clause("server/prompts", "embedded-resources")


def _get_text(content: Any, name: str) -> str | None:
    value = content.get(name) if isinstance(content, dict) else None
    return value if isinstance(value, str) else None


def _build_base64_check(name: str) -> Check:
    """Return the check that the property *name* is base64."""

    def check(content: Any, context: Context) -> Iterable[Fault]:
        data = _get_text(content, name)
        fault = "" if data is None else base64_fault(data, context.budget)
        if not fault:
            return ()
        return (Fault((name,), f"{name} must be base64 (RFC 4648, section 4); {fault}"),)

    return check


def _build_media_type_check(example: str) -> Check:
    """Return the check that ``mimeType`` is a media type, such as *example*."""

    def check(content: Any, context: Context) -> Iterator[Fault]:
        media_type = _get_text(content, "mimeType")
        if media_type is not None and not is_media_type(media_type):
            description = Values(hidden=context.hide_values).describe(media_type)
            yield Fault(
                ("mimeType",),
                f"mimeType must be a media type such as {example}; found {description}",
            )

    return check


_CONTENT_RULES = RuleSet(Group.CONTENT)

_CONTENT_RULES.declare(
    "IMAGE_DATA",
    Severity.ERROR,
    _IMAGE,
    "The data of an image MUST be base64.",
    on="ImageContent",
    check=_build_base64_check("data"),
)

_CONTENT_RULES.declare(
    "IMAGE_MIME_TYPE",
    Severity.ERROR,
    _IMAGE,
    "The mimeType of an image MUST be a media type.",
    on="ImageContent",
    check=_build_media_type_check("image/png"),
)

_CONTENT_RULES.declare(
    "AUDIO_DATA",
    Severity.ERROR,
    _AUDIO,
    "The data of audio MUST be base64.",
    on="AudioContent",
    since="2025-03-26",
    check=_build_base64_check("data"),
)

_CONTENT_RULES.declare(
    "AUDIO_MIME_TYPE",
    Severity.ERROR,
    _AUDIO,
    "The mimeType of audio MUST be a media type.",
    on="AudioContent",
    since="2025-03-26",
    check=_build_media_type_check("audio/wav"),
)

_CONTENT_RULES.declare(
    "BLOB_DATA",
    Severity.ERROR,
    Clause("server/resources", "security-considerations"),
    "The blob of a resource MUST be base64.",
    on="BlobResourceContents",
    check=_build_base64_check("blob"),
)


@_CONTENT_RULES.rule(
    "RESOURCE_TEXT_AND_BLOB",
    Severity.WARNING,
    _EMBEDDED,
    "A resource SHOULD have either text or a blob, and not both: no clause says which "
    "of them takes precedence. The published schema accepts both.",
    on=("TextResourceContents", "BlobResourceContents"),
)
def _resource_text_and_blob(resource: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(resource, dict) and "text" in resource and "blob" in resource:
        return (Fault((), "a resource should have either text or blob, found both"),)
    return ()


def _build_format_check(name: str, has_format: Callable[[str], bool], expected: str) -> Check:
    """Return the check that the property *name*, if it is a string, has a format."""

    def check(value: Any, context: Context) -> Iterable[Fault]:
        text = _get_text(value, name)
        if text is None:
            return ()
        spend(context.budget, min(len(text), 1 << 16) // 8 + 40)
        if has_format(text):
            return ()
        description = Values(hidden=context.hide_values).describe(text)
        return (Fault((name,), f"{name} {expected}; found {description}"),)

    return check


_uri_check = _build_format_check("uri", is_uri, "must be a URI (RFC 3986) such as file:///a.txt")
_TEMPLATE = "should be a URI template (RFC 6570) such as file:///{path}"

_CONTENT_RULES.declare(
    "RESOURCE_URI",
    Severity.ERROR,
    _EMBEDDED,
    "The uri of a resource MUST be a URI of RFC 3986, with a scheme.",
    on=("TextResourceContents", "BlobResourceContents", "ResourceLink", "Resource"),
    check=_uri_check,
)

_CONTENT_RULES.declare(
    "RESOURCE_REQUEST_URI",
    Severity.ERROR,
    Clause("server/resources", "custom-uri-schemes"),
    "The uri of a request or a notification about a resource MUST be a URI of RFC"
    " 3986, with a scheme.",
    on=(
        "ReadResourceRequestParams",
        "SubscribeRequestParams",
        "UnsubscribeRequestParams",
        "ResourceUpdatedNotificationParams",
    ),
    since="2025-06-18",
    check=_uri_check,
)

_CONTENT_RULES.declare(
    "RESOURCE_REQUEST_URI_EARLY",
    Severity.WARNING,
    type_clause(),
    "The uri of a request or a notification about a resource SHOULD be a URI, as its"
    " format in the published schema says. (Since 2025-06-18: MUST.)",
    on=(
        "ReadResourceRequestParams",
        "SubscribeRequestParams",
        "UnsubscribeRequestParams",
        "ResourceUpdatedNotificationParams",
    ),
    until="2025-03-26",
    check=_uri_check,
)

_CONTENT_RULES.declare(
    "RESOURCE_TEMPLATE_URI",
    Severity.WARNING,
    Clause("server/resources", "resource-templates"),
    "The uriTemplate of a resource template SHOULD be a URI template of RFC 6570, as"
    " its format in the published schema says.",
    on="ResourceTemplate",
    check=_build_format_check("uriTemplate", is_uri_template, _TEMPLATE),
)

_CONTENT_RULES.declare(
    "RESOURCE_REFERENCE_URI",
    Severity.WARNING,
    Clause("server/utilities/completion", "reference-types"),
    "The uri of a reference to a resource SHOULD be a URI or a URI template of RFC"
    " 6570, as its format in the published schema says.",
    on="ResourceTemplateReference",
    check=_build_format_check("uri", is_uri_template, _TEMPLATE),
)

_CONTENT_RULES.declare(
    "WEBSITE_URL",
    Severity.WARNING,
    Clause("schema", "implementation"),
    "The websiteUrl of an implementation SHOULD be a URI, as its format in the"
    " published schema says.",
    on="Implementation",
    since="2025-11-25",
    check=_build_format_check(
        "websiteUrl", is_uri, "should be a URI (RFC 3986) such as https://example.com"
    ),
)


@_CONTENT_RULES.rule(
    "PROMPT_RESOURCE_MIME_TYPE",
    Severity.ERROR,
    _EMBEDDED,
    "A resource that is embedded in a prompt message MUST have a mimeType, which is a media type.",
    on="PromptMessage",
)
def _prompt_resource_media_type(message: Any, context: Context) -> Iterator[Fault]:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, dict) or content.get("type") != "resource":
        return
    resource = content.get("resource")
    if isinstance(resource, dict) and "mimeType" not in resource:
        yield Fault(
            ("content", "resource"),
            "a resource in a prompt must have a mimeType",
        )
    media_type = _get_text(resource, "mimeType")
    if media_type is not None and not is_media_type(media_type):
        description = Values(hidden=context.hide_values).describe(media_type)
        message = f"mimeType must be a media type such as text/plain; found {description}"
        yield Fault(("content", "resource", "mimeType"), message)


@_CONTENT_RULES.rule(
    "ANNOTATIONS_LAST_MODIFIED",
    Severity.WARNING,
    Clause("schema", "annotations"),
    "lastModified SHOULD be an ISO 8601 date or date and time.",
    on="Annotations",
    since="2025-06-18",
)
def _last_modified(annotations: Any, context: Context) -> Iterator[Fault]:
    timestamp = _get_text(annotations, "lastModified")
    if timestamp is not None and not is_iso_8601(timestamp):
        description = Values(hidden=context.hide_values).describe(timestamp)
        yield Fault(
            ("lastModified",),
            f"lastModified should be an ISO 8601 timestamp such as 2025-01-12T15:00:58Z; found "
            f"{description}",
        )


_SINCE = "2025-11-25"
_CLAUSE = Clause("basic", "icons")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63}):")
_SIZE = re.compile(r"[1-9][0-9]{0,5}x[1-9][0-9]{0,5}")

# Steps to match one size.
_SIZE_STEPS = 20


def _read_scheme(uri: str) -> str:
    """Return the scheme of *uri* in lower case, or ""."""
    match = _SCHEME.match(uri)
    return match[1].lower() if match is not None else ""


_ICON_RULES = RuleSet(Group.ICONS, on="Icon", since=_SINCE)


@_ICON_RULES.rule(
    "ICON_SCHEME",
    Severity.ERROR,
    _CLAUSE,
    "The src of an icon MUST be an https: or data: URI; clients reject unsafe schemes.",
)
def _icon_scheme(icon: Any, context: Context) -> Iterator[Fault]:
    src = _get_text(icon, "src")
    if src is None:
        return
    scheme = _read_scheme(src)
    # ICON_HTTP reports http:.
    if scheme in {"https", "http", "data"}:
        return
    if not scheme:
        description = (
            f"found {Values(hidden=context.hide_values).describe(src)}, which has no scheme"
        )
    elif context.hide_values:
        description = "found a URI of another scheme"
    else:
        description = f"found a URI of the scheme {scheme}:"
    yield Fault(("src",), f"the src of an icon must be an https: or data: URI; {description}")


@_ICON_RULES.rule(
    "ICON_HTTP",
    Severity.WARNING,
    _CLAUSE,
    "The src of an icon SHOULD NOT be an http: URI: one passage of the specification allows "
    "it, and another has clients reject it.",
)
def _icon_http(icon: Any, _context: Context) -> Iterator[Fault]:
    src = _get_text(icon, "src")
    if src is not None and _read_scheme(src) == "http":
        yield Fault(
            ("src",),
            "the src of an icon should be an https: or data: URI; clients may reject http:",
        )


@_ICON_RULES.rule(
    "ICON_URI",
    Severity.WARNING,
    _CLAUSE,
    "The src of an icon SHOULD be a well-formed URI with a host.",
)
def _icon_uri(icon: Any, context: Context) -> Iterator[Fault]:
    src = _get_text(icon, "src")
    if src is None or _read_scheme(src) not in {"https", "http"}:
        return
    spend(context.budget, len(src) // 8 + 40)
    _, _, rest = src.partition(":")
    if not is_uri(src) or not re.match(r"//[^/?#]", rest):
        description = Values(hidden=context.hide_values).describe(src)
        yield Fault(
            ("src",), f"the src of an icon should be a URI with a host; found {description}"
        )


@_ICON_RULES.rule(
    "ICON_DATA",
    Severity.WARNING,
    _CLAUSE,
    "A data: URI in the src of an icon SHOULD hold an image in base64.",
)
def _icon_data(icon: Any, context: Context) -> Iterator[Fault]:
    src = _get_text(icon, "src")
    if src is None or _read_scheme(src) != "data":
        return
    expected = "the data: URI of an icon should hold an image in base64; "
    uri = read_data_uri(src, context.budget)
    if uri is None:
        yield Fault(("src",), f"{expected}found no comma before its data")
    elif not uri.media_type.startswith("image/") or not is_media_type(uri.media_type):
        yield Fault(("src",), f"{expected}its media type is not that of an image")
    elif not uri.base64:
        yield Fault(("src",), f"{expected}it does not declare base64")
    elif fault := base64_fault(uri.data, context.budget):
        yield Fault(("src",), f"{expected}its data is invalid: {fault}")
    elif not uri.data:
        yield Fault(("src",), f"{expected}its data is empty")


@_ICON_RULES.rule(
    "ICON_SIZES",
    Severity.WARNING,
    Clause("schema", "icon"),
    'Each size of an icon SHOULD be a width and height such as "48x48", or "any".',
)
def _icon_sizes(icon: Any, context: Context) -> Iterator[Fault]:
    sizes = icon.get("sizes") if isinstance(icon, dict) else None
    if not isinstance(sizes, list):
        return
    spend(context.budget, _SIZE_STEPS * len(sizes))
    for index, size in enumerate(sizes):
        if isinstance(size, str) and size != "any" and not _SIZE.fullmatch(size):
            description = Values(hidden=context.hide_values).describe(size)
            yield Fault(
                ("sizes", index),
                'a size should be a width and height such as "48x48", or "any"; '
                f"found {description}",
            )


@_ICON_RULES.rule(
    "ICON_MIME_TYPE",
    Severity.WARNING,
    _CLAUSE,
    "The mimeType of an icon SHOULD be that of an image; clients accept no others.",
)
def _icon_mime_type(icon: Any, context: Context) -> Iterator[Fault]:
    media_type = _get_text(icon, "mimeType")
    if media_type is None:
        return
    if not media_type.lower().startswith("image/") or not is_media_type(media_type):
        description = Values(hidden=context.hide_values).describe(media_type)
        yield Fault(
            ("mimeType",),
            f"mimeType should be that of an image such as image/png; found {description}",
        )
