"""Lists the requirements in a checkout of the specification.

A clause is a sentence with a requirement keyword (RFC 2119) in capitals, or an item of a
list that such a sentence introduces. The same sentence is the same clause in every version
and on every page. The list holds where it stands and a digest of its normalized text, and not
the text itself.
"""

import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sidecheck_server.core.mcp.context import VERSIONS

__all__ = ["Sentence", "sentences"]

PAGES = ("basic", "client", "server")
"""Parts of the specification that concern messages; see `EXCLUDED` for what is left out."""

EXCLUDED = ("basic/authorization",)
"""Pages of these parts about HTTP alone, without messages."""

_KEYWORD = re.compile(
    r"\b(MUST NOT|SHALL NOT|SHOULD NOT|NOT RECOMMENDED|MUST|SHALL|REQUIRED|SHOULD|RECOMMENDED)\b"
)
_WEAK = frozenset({"SHOULD NOT", "NOT RECOMMENDED", "SHOULD", "RECOMMENDED"})

_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^(#+)\s+(.*)")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+(.*)")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z(\"'])")
_DECLARATION = re.compile(r"\s*export (?:interface|type|const) (\w+)")
_ANCHOR_DROPPED = re.compile(r"[^\w\s-]")
_MARKUP = (
    (re.compile(r"\{@link(?:code)?\s+([^|}]*?)(?:\s*\|\s*([^}]*))?\}"), r"\1"),
    (re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?"), r"\1"),
    (re.compile(r"<[^>]+>"), " "),
    (re.compile(r"[*_`]{1,3}"), ""),
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A clause at one place in one version."""

    version: str
    #: Page below the version, for example ``server/tools``; ``schema`` for the types.
    page: str
    anchor: str
    #: MUST or SHOULD: that of its strongest keyword.
    level: str
    text: str

    @property
    def digest(self) -> str:
        """The first 10 digits of the SHA-256 of its text, which identify the clause."""
        return hashlib.sha256(self.text.casefold().encode()).hexdigest()[:10]


def sentences(specification: Path) -> Iterator[Sentence]:
    """Yield the clauses of all versions in *specification*, a checkout of its repository."""
    for version in VERSIONS:
        root = specification / "docs" / "specification" / version
        for part in PAGES:
            for path in sorted((root / part).rglob("*.mdx")):
                page = path.relative_to(root).with_suffix("").as_posix().removesuffix("/index")
                if not page.startswith(EXCLUDED):
                    blocks = _blocks(path.read_text("utf-8").split("---", 2)[-1])
                    yield from _clauses(version, page, blocks)
        types = (specification / "schema" / version / "schema.ts").read_text("utf-8")
        yield from _clauses(version, "schema", _comments(types))


#: Anchor, depth of a list item or None for a paragraph, and text.
_Block = tuple[str, int | None, str]


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the paragraphs and list items of the page *text*."""
    anchor, depth, fenced = "", None, False
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced:
            continue
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading or item or not line.strip() or line.lstrip().startswith("|"):
            if lines:
                yield anchor, depth, " ".join(lines)
            lines = []
        if heading:
            anchor, depth = _anchor(heading[2]), None
        elif item:
            depth, lines = len(item[1]), [item[2]]
        elif line.strip():
            if not lines and not line.startswith(" "):
                depth = None
            lines.append(line.strip())


def _comments(text: str) -> Iterator[_Block]:
    """Yield the paragraphs of the documentation comments of *text*, the schema in TypeScript.

    Their anchor is the type that they describe, or whose property they describe.
    """
    name = ""
    for part in re.finditer(r"/\*\*(?P<comment>.*?)\*/|(?P<code>[^/]+|/)", text, re.DOTALL):
        if part["comment"] is None:
            declared = _DECLARATION.findall(part["code"])
            name = declared[-1] if declared else name
            continue
        following = _DECLARATION.match(text, part.end())
        described = following[1] if following else name
        lines = [re.sub(r"^\s*\* ?", "", line) for line in part["comment"].splitlines()]
        for _, depth, block in _blocks("\n".join(lines)):
            yield described.lower(), depth, block


def _clauses(version: str, page: str, blocks: Iterator[_Block]) -> Iterator[Sentence]:
    #: Depth of the sentence that introduces a list, of the list or None before its first item,
    #: and the level and the text of the sentence.
    lead: tuple[int, int | None, str, str] | None = None
    for anchor, depth, block in blocks:
        text = _plain(block)
        if lead is not None and (depth is None or depth <= lead[0]):
            lead = None
        if lead is not None and depth is not None and not _level(text):
            _, of_list, level, introduction = lead
            lead = (lead[0], depth if of_list is None else of_list, level, introduction)
            if depth == lead[1]:
                yield Sentence(version, page, anchor, level, f"{introduction} {text}")
            continue
        parts = _SENTENCE_END.split(text)
        for part in parts:
            level = _level(part)
            if level:
                yield Sentence(version, page, anchor, level, part)
        if parts[-1].endswith(":") and _level(parts[-1]):
            lead = (-1 if depth is None else depth, None, _level(parts[-1]), parts[-1])


def _plain(text: str) -> str:
    """Return *text* without markup, with single spaces."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return " ".join(html.unescape(text).replace("|", " ").split())


def _level(text: str) -> str:
    keywords = set(_KEYWORD.findall(text))
    if not keywords:
        return ""
    return "SHOULD" if keywords <= _WEAK else "MUST"


def _anchor(heading: str) -> str:
    return "-".join(_ANCHOR_DROPPED.sub("", _plain(heading).lower()).split())
