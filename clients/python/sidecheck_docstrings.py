"""Docstring parser of both inference routes: descriptions of a tool and of its parameters.

It stands outside of the package `sidecheck` so that the server can import it without gRPC.
griffe parses the sections of the three styles; it compiles nothing and runs nothing.
"""

import inspect
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

import griffe

__all__ = ["ParsedDocstring", "parse_docstring"]

_Sections: TypeAlias = list[griffe.DocstringSection]

# Longer docstrings are not parsed, because parsing takes time for each character.
_MAX_CHARACTERS = 16 << 10

# Titles that griffe knows as sections. Any other title belongs to the text.
_GOOGLE_TITLES = frozenset(
    {
        "args", "arguments", "attributes", "classes", "examples", "exceptions", "functions",
        "keyword args", "keyword arguments", "methods", "modules", "other args",
        "other arguments", "other parameters", "other params", "parameters", "params", "raises",
        "receives", "returns", "type aliases", "type args", "type arguments", "type parameters",
        "type params", "warnings", "warns", "yields",
    }
)  # fmt: skip
_NUMPY_TITLES = frozenset(
    {
        "attributes", "classes", "deprecated", "examples", "functions", "methods", "modules",
        "other parameters", "parameters", "raises", "receives", "returns", "type aliases",
        "type parameters", "warns", "yields",
    }
)  # fmt: skip
_GOOGLE_HEADER = re.compile(r"(\w[\w\s-]*):(?:\s+\S.*)?\s*")
_SPHINX_FIELD = re.compile(
    r":(?:arg|argument|cvar|except|exception|ivar|key|keyword|param|parameter|raise|raises|return"
    r"|returns|rtype|type|var|vartype)\b[^:]*:"
)
# Marks a line that is not to be taken for a header; Unicode reserves it for internal use.
_MARK = "\ufdd0"


@dataclass(frozen=True, slots=True)
class ParsedDocstring:
    """Text and parameter descriptions of a docstring."""

    #: The docstring without the sections on parameters, results, errors and examples.
    text: str = ""
    #: Descriptions of parameters by name.
    parameters: dict[str, str] = field(default_factory=dict)


def parse_docstring(docstring: str | None, names: Collection[str]) -> ParsedDocstring:
    """Return the text of *docstring*, as it is in the source, and descriptions of *names*.

    The styles of Google, NumPy and Sphinx may be mixed; the first description of a parameter
    holds. Sections with other titles, such as "Note" or "Todo", stay in the text, empty
    sections do not. Types and defaults in the docstring do not affect the schema.
    """
    text = inspect.cleandoc(docstring or "").strip()
    if not text or len(text) > _MAX_CHARACTERS:
        return ParsedDocstring(text)
    text = _without_empty_sections(text)
    parameters: dict[str, str] = {}
    # Sphinx fields are unambiguous. Google's come last: "x : int" in a NumPy section looks like
    # one of its headers.
    for split in (_split_sphinx, _split_numpy, _split_google):
        try:
            text, sections = split(text)
        except (LookupError, MemoryError, RecursionError, ValueError):
            # griffe reads beyond the last line of some malformed sections, and fails on some
            # types. Such sections stay in the text.
            continue
        _add_descriptions(sections, names, parameters)
    return ParsedDocstring(text.strip(), parameters)


def _add_descriptions(
    sections: _Sections, names: Collection[str], parameters: dict[str, str]
) -> None:
    """Add the descriptions of the parameters *names* in *sections* to *parameters*."""
    for section in sections:
        if isinstance(
            section,
            griffe.DocstringSectionParameters | griffe.DocstringSectionOtherParameters,
        ):
            for parameter in section.value:
                name = parameter.name.strip("*` ")
                description = parameter.description.strip()
                if name in names and description:
                    parameters.setdefault(name, description)


def _split_sphinx(text: str) -> tuple[str, _Sections]:
    """Return *text* without its field lists, and their sections."""
    lines = text.split("\n")
    if not any(map(_SPHINX_FIELD.match, lines)):
        return text, []
    parts: list[str] = [""]
    fields: list[str] = []
    in_fields = after_blank = False
    for line in lines:
        if _SPHINX_FIELD.match(line):
            in_fields = True
        elif in_fields and after_blank and line and not line.startswith((" ", ":")):
            # A field list ends at the first unindented paragraph.
            in_fields = False
            parts.append("")
        after_blank = not line.strip()
        if in_fields:
            fields.append(line)
        else:
            parts[-1] += f"{line}\n"
    return _join(parts), _parse("\n".join(fields), griffe.Parser.sphinx)


def _split_numpy(text: str) -> tuple[str, _Sections]:
    """Return *text* without the known underlined sections, and all sections."""
    lines = text.split("\n")
    underlines = {lines[index]: line for index, line in enumerate(lines[1:]) if _is_underline(line)}
    if not underlines:
        return text, []
    sections = _parse(text, griffe.Parser.numpy)
    parts: list[str] = []
    for section in sections:
        if isinstance(section, griffe.DocstringSectionText):
            parts.append(section.value)
        elif isinstance(section, griffe.DocstringSectionAdmonition):
            title = section.title or ""
            parts.append(f"{title}\n{underlines.get(title, '')}\n{section.value.description}")
    return _join(parts), sections


def _split_google(text: str) -> tuple[str, _Sections]:
    """Return *text* without the known sections with a colon, and those sections."""
    lines = text.split("\n")
    titles = [_google_title(line) for line in lines]
    if not any(title in _GOOGLE_TITLES for title in titles):
        return text, []
    marked = [
        f"{_MARK}{line}" if title and title not in _GOOGLE_TITLES else line
        for title, line in zip(titles, lines, strict=True)
    ]
    sections = _parse("\n".join(marked), griffe.Parser.google)
    parts = [
        section.value for section in sections if isinstance(section, griffe.DocstringSectionText)
    ]
    return _join(parts).replace(_MARK, ""), sections


def _parse(text: str, style: griffe.Parser) -> _Sections:
    # griffe removes the common indentation of all lines but the first, which is blank here.
    return griffe.parse(griffe.Docstring(f"\n{text}"), style, warnings=False)


def _join(parts: list[str]) -> str:
    stripped = (part.strip("\n").rstrip() for part in parts)
    return "\n\n".join(part for part in stripped if part)


def _without_empty_sections(text: str) -> str:
    """Return *text* without the headers of known sections that nothing follows."""
    lines = text.split("\n")
    remaining: list[str] = []
    index = 0
    while index < len(lines):
        size = _header_size(lines, index)
        next_index = index + size
        while size and next_index < len(lines) and not lines[next_index].strip():
            next_index += 1
        if size and (next_index == len(lines) or _starts_section(lines, next_index)):
            index = next_index
        else:
            remaining.append(lines[index])
            index += 1
    return "\n".join(remaining)


def _header_size(lines: list[str], index: int) -> int:
    """Return how many lines the header of a known section at *index* has, or 0."""
    line = lines[index].rstrip()
    if line.endswith(":") and line[:-1].lower() in _GOOGLE_TITLES:
        return 1
    is_underlined = index + 1 < len(lines) and _is_underline(lines[index + 1])
    return 2 if is_underlined and line.lower() in _NUMPY_TITLES else 0


def _starts_section(lines: list[str], index: int) -> bool:
    line = lines[index].rstrip()
    return bool(
        (line.endswith(":") and _google_title(line))
        or _SPHINX_FIELD.match(line)
        or (index + 1 < len(lines) and _is_underline(lines[index + 1]))
    )


def _google_title(line: str) -> str:
    """Return the title of a header in lower case; "" if *line* is none."""
    match = _GOOGLE_HEADER.fullmatch(line)
    return match[1].lower() if match else ""


def _is_underline(line: str) -> bool:
    return "-" in line and not line.replace("-", "").strip()
