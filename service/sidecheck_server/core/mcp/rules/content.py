"""Content: images, audio, and resources, whole or linked."""

from collections.abc import Iterable, Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.encodings import base64_fault, is_media_type
from sidecheck_server.core.mcp.rules.rule import Check, Clause, Fault, Rule, rule
from sidecheck_server.core.mcp.timestamps import is_iso_8601
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_IMAGE = Clause("server/prompts", "image-content")
_AUDIO = Clause("server/prompts", "audio-content")
_EMBEDDED = Clause("server/prompts", "embedded-resources")


def _text(content: Any, member: str) -> str | None:
    value = content.get(member) if isinstance(content, dict) else None
    return value if isinstance(value, str) else None


def _encoded(member: str) -> Check:
    """Return the check that *member* is base64."""

    def check(content: Any, context: Context) -> Iterable[Fault]:
        data = _text(content, member)
        fault = "" if data is None else base64_fault(data, context.budget)
        if not fault:
            return ()
        return (Fault((member,), f"{member} must be base64 (RFC 4648, section 4); {fault}"),)

    return check


def _typed(content: Any, context: Context) -> Iterator[Fault]:
    kind = _text(content, "mimeType")
    if kind is not None and not is_media_type(kind):
        found = Values(hidden=context.hide_values).found(kind)
        yield Fault(
            ("mimeType",), f"mimeType must be type/subtype such as image/png; found {found}"
        )


_image_data = rule(
    "IMAGE_DATA",
    severity=Severity.ERROR,
    clause=_IMAGE,
    sentence="The data of an image is base64.",
    on="ImageContent",
)(_encoded("data"))

_image_type = rule(
    "IMAGE_MIME_TYPE",
    severity=Severity.ERROR,
    clause=_IMAGE,
    sentence="The mimeType of an image is a media type.",
    on="ImageContent",
)(_typed)

_audio_data = rule(
    "AUDIO_DATA",
    severity=Severity.ERROR,
    clause=_AUDIO,
    sentence="The data of audio is base64.",
    on="AudioContent",
    since="2025-03-26",
)(_encoded("data"))

_audio_type = rule(
    "AUDIO_MIME_TYPE",
    severity=Severity.ERROR,
    clause=_AUDIO,
    sentence="The mimeType of audio is a media type.",
    on="AudioContent",
    since="2025-03-26",
)(_typed)

_blob_data = rule(
    "BLOB_DATA",
    severity=Severity.ERROR,
    clause=Clause("server/resources", "security-considerations"),
    sentence="The blob of a resource is base64.",
    on="BlobResourceContents",
)(_encoded("blob"))


@rule(
    "RESOURCE_TEXT_AND_BLOB",
    severity=Severity.ERROR,
    clause=_EMBEDDED,
    sentence="A resource has either text or a blob, not both.",
    on=("TextResourceContents", "BlobResourceContents"),
)
def _one_of_both(resource: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(resource, dict) and "text" in resource and "blob" in resource:
        return (Fault((), "a resource must have either text or blob; this one has both"),)
    return ()


@rule(
    "RESOURCE_URI",
    severity=Severity.ERROR,
    clause=_EMBEDDED,
    sentence="The uri of a resource is a URI: it has a scheme and keeps the grammar of RFC 3986.",
    on=("TextResourceContents", "BlobResourceContents", "ResourceLink", "Resource"),
)
def _identified(resource: Any, context: Context) -> Iterable[Fault]:
    uri = _text(resource, "uri")
    if uri is None:
        return ()
    spend(context.budget, min(len(uri), 1 << 16) // 8 + 40)
    if is_uri(uri):
        return ()
    found = Values(hidden=context.hide_values).found(uri)
    said = f"uri must be a URI (RFC 3986) such as file:///a.txt; found {found}"
    return (Fault(("uri",), said),)


@rule(
    "PROMPT_RESOURCE_MIME_TYPE",
    severity=Severity.ERROR,
    clause=_EMBEDDED,
    sentence="A resource that is embedded in a message of a prompt has a mimeType.",
    on="PromptMessage",
)
def _typed_in_prompts(message: Any, _context: Context) -> Iterator[Fault]:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, dict) or content.get("type") != "resource":
        return
    resource = content.get("resource")
    if isinstance(resource, dict) and "mimeType" not in resource:
        yield Fault(
            ("content", "resource"),
            "a resource in a prompt must have a mimeType, and this one has none",
        )


@rule(
    "ANNOTATIONS_LAST_MODIFIED",
    severity=Severity.WARNING,
    clause=Clause("schema", "annotations"),
    sentence="lastModified is a date or a date and time of ISO 8601.",
    on="Annotations",
    since="2025-06-18",
)
def _dated(annotations: Any, context: Context) -> Iterator[Fault]:
    moment = _text(annotations, "lastModified")
    if moment is not None and not is_iso_8601(moment):
        found = Values(hidden=context.hide_values).found(moment)
        yield Fault(
            ("lastModified",),
            f"lastModified must be of ISO 8601 such as 2025-01-12T15:00:58Z; found {found}",
        )


RULES: tuple[Rule, ...] = (
    _image_data,
    _image_type,
    _audio_data,
    _audio_type,
    _blob_data,
    _one_of_both,
    _identified,
    _typed_in_prompts,
    _dated,
)
