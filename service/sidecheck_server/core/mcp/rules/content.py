"""Content blocks and resources."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.uris import is_uri, is_uri_template
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Check, Clause, Fault, Rule, rule, type_clause
from sidecheck_server.core.mcp.text_encodings import base64_fault, is_iso_8601, is_media_type
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_IMAGE = Clause("server/prompts", "image-content")
_AUDIO = Clause("server/prompts", "audio-content")
_EMBEDDED = Clause("server/prompts", "embedded-resources")


def _text_property(content: Any, name: str) -> str | None:
    value = content.get(name) if isinstance(content, dict) else None
    return value if isinstance(value, str) else None


def _base64_check(name: str) -> Check:
    """Return a check that the property *name* is base64."""

    def check(content: Any, context: Context) -> Iterable[Fault]:
        data = _text_property(content, name)
        fault = "" if data is None else base64_fault(data, context.budget)
        if not fault:
            return ()
        return (Fault((name,), f"{name} must be base64 (RFC 4648, section 4); {fault}"),)

    return check


def _media_type_check(example: str) -> Check:
    """Return a check that ``mimeType`` is a media type, such as *example*."""

    def check(content: Any, context: Context) -> Iterator[Fault]:
        media_type = _text_property(content, "mimeType")
        if media_type is not None and not is_media_type(media_type):
            found = Values(hidden=context.hide_values).describe(media_type)
            yield Fault(
                ("mimeType",), f"mimeType must be a media type such as {example}; found {found}"
            )

    return check


_image_data = rule(
    "IMAGE_DATA",
    severity=Severity.ERROR,
    clause=_IMAGE,
    requirement="The data of an image MUST be base64.",
    on="ImageContent",
)(_base64_check("data"))

_image_type = rule(
    "IMAGE_MIME_TYPE",
    severity=Severity.ERROR,
    clause=_IMAGE,
    requirement="The mimeType of an image MUST be a media type.",
    on="ImageContent",
)(_media_type_check("image/png"))

_audio_data = rule(
    "AUDIO_DATA",
    severity=Severity.ERROR,
    clause=_AUDIO,
    requirement="The data of audio MUST be base64.",
    on="AudioContent",
    since="2025-03-26",
)(_base64_check("data"))

_audio_type = rule(
    "AUDIO_MIME_TYPE",
    severity=Severity.ERROR,
    clause=_AUDIO,
    requirement="The mimeType of audio MUST be a media type.",
    on="AudioContent",
    since="2025-03-26",
)(_media_type_check("audio/wav"))

_blob_data = rule(
    "BLOB_DATA",
    severity=Severity.ERROR,
    clause=Clause("server/resources", "security-considerations"),
    requirement="The blob of a resource MUST be base64.",
    on="BlobResourceContents",
)(_base64_check("blob"))


@rule(
    "RESOURCE_TEXT_AND_BLOB",
    severity=Severity.WARNING,
    clause=_EMBEDDED,
    requirement="A resource SHOULD have either text or a blob, and not both: no clause says which "
    "of them counts. The published schema accepts both.",
    on=("TextResourceContents", "BlobResourceContents"),
)
def _text_or_blob(resource: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(resource, dict) and "text" in resource and "blob" in resource:
        return (Fault((), "a resource should have either text or blob, found both"),)
    return ()


def _format_check(name: str, has_format: Callable[[str], bool], expected: str) -> Check:
    """Return a check that the property *name*, if it is a text, has a format."""

    def check(value: Any, context: Context) -> Iterable[Fault]:
        text = _text_property(value, name)
        if text is None:
            return ()
        spend(context.budget, min(len(text), 1 << 16) // 8 + 40)
        if has_format(text):
            return ()
        found = Values(hidden=context.hide_values).describe(text)
        return (Fault((name,), f"{name} {expected}; found {found}"),)

    return check


_uri_check = _format_check("uri", is_uri, "must be a URI (RFC 3986) such as file:///a.txt")
_TEMPLATE = "should be a URI template (RFC 6570) such as file:///{path}"

_resource_uri = rule(
    "RESOURCE_URI",
    severity=Severity.ERROR,
    clause=_EMBEDDED,
    requirement="The uri of a resource MUST be a URI of RFC 3986, with a scheme.",
    on=("TextResourceContents", "BlobResourceContents", "ResourceLink", "Resource"),
)(_uri_check)

_request_uri = rule(
    "RESOURCE_REQUEST_URI",
    severity=Severity.ERROR,
    clause=Clause("server/resources", "custom-uri-schemes"),
    requirement="The uri of a request or a notification about a resource MUST be a URI of RFC"
    " 3986, with a scheme.",
    on=(
        "ReadResourceRequestParams",
        "SubscribeRequestParams",
        "UnsubscribeRequestParams",
        "ResourceUpdatedNotificationParams",
    ),
    since="2025-06-18",
)(_uri_check)

_request_uri_early = rule(
    "RESOURCE_REQUEST_URI_EARLY",
    severity=Severity.WARNING,
    clause=type_clause(),
    requirement="The uri of a request or a notification about a resource SHOULD be a URI, as its"
    " format in the published schema says. (Since 2025-06-18: MUST.)",
    on=(
        "ReadResourceRequestParams",
        "SubscribeRequestParams",
        "UnsubscribeRequestParams",
        "ResourceUpdatedNotificationParams",
    ),
    until="2025-03-26",
)(_uri_check)

_resource_template = rule(
    "RESOURCE_TEMPLATE_URI",
    severity=Severity.WARNING,
    clause=Clause("server/resources", "resource-templates"),
    requirement="The uriTemplate of a resource template SHOULD be a URI template of RFC 6570, as"
    " its format in the published schema says.",
    on="ResourceTemplate",
)(_format_check("uriTemplate", is_uri_template, _TEMPLATE))

_reference_uri = rule(
    "RESOURCE_REFERENCE_URI",
    severity=Severity.WARNING,
    clause=Clause("server/utilities/completion", "reference-types"),
    requirement="The uri of a reference to a resource SHOULD be a URI or a URI template of RFC"
    " 6570, as its format in the published schema says.",
    on="ResourceTemplateReference",
)(_format_check("uri", is_uri_template, _TEMPLATE))

_website_url = rule(
    "WEBSITE_URL",
    severity=Severity.WARNING,
    clause=Clause("schema", "implementation"),
    requirement="The websiteUrl of an implementation SHOULD be a URI, as its format in the"
    " published schema says.",
    on="Implementation",
    since="2025-11-25",
)(_format_check("websiteUrl", is_uri, "should be a URI (RFC 3986) such as https://example.com"))


@rule(
    "PROMPT_RESOURCE_MIME_TYPE",
    severity=Severity.ERROR,
    clause=_EMBEDDED,
    requirement="A resource that is embedded in a prompt message MUST have a mimeType, which is a"
    " media type.",
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
    media_type = _text_property(resource, "mimeType")
    if media_type is not None and not is_media_type(media_type):
        found = Values(hidden=context.hide_values).describe(media_type)
        message = f"mimeType must be a media type such as text/plain; found {found}"
        yield Fault(("content", "resource", "mimeType"), message)


@rule(
    "ANNOTATIONS_LAST_MODIFIED",
    severity=Severity.WARNING,
    clause=Clause("schema", "annotations"),
    requirement="lastModified SHOULD be an ISO 8601 date or date and time.",
    on="Annotations",
    since="2025-06-18",
)
def _last_modified(annotations: Any, context: Context) -> Iterator[Fault]:
    timestamp = _text_property(annotations, "lastModified")
    if timestamp is not None and not is_iso_8601(timestamp):
        found = Values(hidden=context.hide_values).describe(timestamp)
        yield Fault(
            ("lastModified",),
            f"lastModified should be an ISO 8601 timestamp such as 2025-01-12T15:00:58Z; found "
            f"{found}",
        )


RULES: tuple[Rule, ...] = (
    _image_data,
    _image_type,
    _audio_data,
    _audio_type,
    _blob_data,
    _text_or_blob,
    _resource_uri,
    _request_uri,
    _request_uri_early,
    _resource_template,
    _reference_uri,
    _website_url,
    _prompt_resource_media_type,
    _last_modified,
)
