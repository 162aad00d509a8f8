"""Icons of tools, prompts, resources and implementations."""

import re
from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.mcp.text_encodings import base64_fault, is_media_type, read_data_uri
from sidecheck_server.core.types import Severity

_SINCE = "2025-11-25"
_CLAUSE = Clause("basic", "icons")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63}):")
_SIZE = re.compile(r"[1-9][0-9]{0,5}x[1-9][0-9]{0,5}")

# Steps to match one size.
_SIZE_STEPS = 20


def _text_property(icon: Any, name: str) -> str | None:
    value = icon.get(name) if isinstance(icon, dict) else None
    return value if isinstance(value, str) else None


def _scheme(uri: str) -> str:
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
def _safe_scheme(icon: Any, context: Context) -> Iterator[Fault]:
    src = _text_property(icon, "src")
    if src is None:
        return
    scheme = _scheme(src)
    # http: has its own rule.
    if scheme in {"https", "http", "data"}:
        return
    if not scheme:
        found = f"found {Values(hidden=context.hide_values).describe(src)}, which has no scheme"
    elif context.hide_values:
        found = "found a URI of another scheme"
    else:
        found = f"found a URI of the scheme {scheme}:"
    yield Fault(("src",), f"the src of an icon must be an https: or data: URI; {found}")


@_ICON_RULES.rule(
    "ICON_HTTP",
    Severity.WARNING,
    _CLAUSE,
    "The src of an icon SHOULD NOT be an http: URI: one passage of the specification allows "
    "it, and another has clients reject it.",
)
def _encrypted(icon: Any, _context: Context) -> Iterator[Fault]:
    src = _text_property(icon, "src")
    if src is not None and _scheme(src) == "http":
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
def _well_formed(icon: Any, context: Context) -> Iterator[Fault]:
    src = _text_property(icon, "src")
    if src is None or _scheme(src) not in {"https", "http"}:
        return
    spend(context.budget, len(src) // 8 + 40)
    _, _, rest = src.partition(":")
    if not is_uri(src) or not re.match(r"//[^/?#]", rest):
        found = Values(hidden=context.hide_values).describe(src)
        yield Fault(("src",), f"the src of an icon should be a URI with a host; found {found}")


@_ICON_RULES.rule(
    "ICON_DATA",
    Severity.WARNING,
    _CLAUSE,
    "A data: URI in the src of an icon SHOULD hold an image in base64.",
)
def _image_inside(icon: Any, context: Context) -> Iterator[Fault]:
    src = _text_property(icon, "src")
    if src is None or _scheme(src) != "data":
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
def _sized(icon: Any, context: Context) -> Iterator[Fault]:
    sizes = icon.get("sizes") if isinstance(icon, dict) else None
    if not isinstance(sizes, list):
        return
    spend(context.budget, _SIZE_STEPS * len(sizes))
    for index, size in enumerate(sizes):
        if isinstance(size, str) and size != "any" and not _SIZE.fullmatch(size):
            found = Values(hidden=context.hide_values).describe(size)
            yield Fault(
                ("sizes", index),
                f'a size should be a width and height such as "48x48", or "any"; found {found}',
            )


@_ICON_RULES.rule(
    "ICON_MIME_TYPE",
    Severity.WARNING,
    _CLAUSE,
    "The mimeType of an icon SHOULD be that of an image; clients accept no others.",
)
def _an_image(icon: Any, context: Context) -> Iterator[Fault]:
    media_type = _text_property(icon, "mimeType")
    if media_type is None:
        return
    if not media_type.lower().startswith("image/") or not is_media_type(media_type):
        found = Values(hidden=context.hide_values).describe(media_type)
        yield Fault(
            ("mimeType",), f"mimeType should be that of an image such as image/png; found {found}"
        )
