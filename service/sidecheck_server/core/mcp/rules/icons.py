"""Icons, wherever one stands: on tools, prompts, resources and implementations."""

import re
from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.encodings import base64_fault, is_media_type, read_data_uri
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SINCE = "2025-11-25"
_CLAUSE = Clause("basic", "icons")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63}):")
_SIZE = re.compile(r"[1-9][0-9]{0,5}x[1-9][0-9]{0,5}")

# In steps: what matching one size takes.
_ONE_SIZE = 20


def _text(icon: Any, member: str) -> str | None:
    value = icon.get(member) if isinstance(icon, dict) else None
    return value if isinstance(value, str) else None


def _scheme(uri: str) -> str:
    """Return the scheme of *uri* in lower case, or ""."""
    found = _SCHEME.match(uri)
    return found[1].lower() if found is not None else ""


@rule(
    "ICON_SCHEME",
    severity=Severity.ERROR,
    clause=_CLAUSE,
    sentence="The src of an icon is an https: or data: URI; clients refuse all unsafe schemes.",
    on="Icon",
    since=_SINCE,
)
def _safe_scheme(icon: Any, context: Context) -> Iterator[Fault]:
    src = _text(icon, "src")
    if src is None:
        return
    scheme = _scheme(src)
    # http: has a rule of its own.
    if scheme in {"https", "http", "data"}:
        return
    if not scheme:
        found = f"found {Values(hidden=context.hide_values).found(src)}, which has no scheme"
    elif context.hide_values:
        found = "found another scheme"
    else:
        found = f"found one of the scheme {scheme}:"
    yield Fault(("src",), f"the src of an icon must be an https: or data: URI; {found}")


@rule(
    "ICON_HTTP",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence=(
        "The src of an icon is not an http: URI: one sentence of the specification lets it be, "
        "another has clients refuse it."
    ),
    on="Icon",
    since=_SINCE,
)
def _encrypted(icon: Any, _context: Context) -> Iterator[Fault]:
    src = _text(icon, "src")
    if src is not None and _scheme(src) == "http":
        yield Fault(("src",), "clients make sure that an icon is at an https: or data: URI")


@rule(
    "ICON_URI",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="The src of an icon is a well-formed URI with a host.",
    on="Icon",
    since=_SINCE,
)
def _well_formed(icon: Any, context: Context) -> Iterator[Fault]:
    src = _text(icon, "src")
    if src is None or _scheme(src) not in {"https", "http"}:
        return
    spend(context.budget, len(src) // 8 + 40)
    _, _, rest = src.partition(":")
    if not is_uri(src) or not re.match(r"//[^/?#]", rest):
        found = Values(hidden=context.hide_values).found(src)
        yield Fault(("src",), f"the src of an icon must be a URI with a host; found {found}")


@rule(
    "ICON_DATA",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="A data: URI in the src of an icon holds an image in base64.",
    on="Icon",
    since=_SINCE,
)
def _image_inside(icon: Any, context: Context) -> Iterator[Fault]:
    src = _text(icon, "src")
    if src is None or _scheme(src) != "data":
        return
    said = "the data: URI of an icon must hold an image in base64; "
    uri = read_data_uri(src, context.budget)
    if uri is None:
        yield Fault(("src",), f"{said}this one has no comma before its data")
    elif not uri.media_type.startswith("image/") or not is_media_type(uri.media_type):
        yield Fault(("src",), f"{said}this one does not say that it is an image")
    elif not uri.base64:
        yield Fault(("src",), f"{said}this one is not said to be base64")
    elif fault := base64_fault(uri.data, context.budget):
        yield Fault(("src",), f"{said}of its data, {fault}")
    elif not uri.data:
        yield Fault(("src",), f"{said}this one is empty")


@rule(
    "ICON_SIZES",
    severity=Severity.WARNING,
    clause=Clause("schema", "icon"),
    sentence='Each of the sizes of an icon is such as "48x48", or "any".',
    on="Icon",
    since=_SINCE,
)
def _sized(icon: Any, context: Context) -> Iterator[Fault]:
    sizes = icon.get("sizes") if isinstance(icon, dict) else None
    if not isinstance(sizes, list):
        return
    spend(context.budget, _ONE_SIZE * len(sizes))
    for index, size in enumerate(sizes):
        if isinstance(size, str) and size != "any" and not _SIZE.fullmatch(size):
            found = Values(hidden=context.hide_values).found(size)
            yield Fault(
                ("sizes", index),
                f'the size must be width and height such as "48x48", or "any"; found {found}',
            )


@rule(
    "ICON_MIME_TYPE",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="The mimeType of an icon is that of an image; clients take no others.",
    on="Icon",
    since=_SINCE,
)
def _an_image(icon: Any, context: Context) -> Iterator[Fault]:
    kind = _text(icon, "mimeType")
    if kind is None:
        return
    if not kind.lower().startswith("image/") or not is_media_type(kind):
        found = Values(hidden=context.hide_values).found(kind)
        yield Fault(
            ("mimeType",), f"the mimeType must be that of an image such as image/png; found {found}"
        )


RULES: tuple[Rule, ...] = (
    _safe_scheme,
    _encrypted,
    _well_formed,
    _image_inside,
    _sized,
    _an_image,
)
