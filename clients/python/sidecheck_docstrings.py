"""Docstring parser of both inference routes: descriptions of a tool and of its parameters.

It stands outside of the package `sidecheck` so that the server can import it without gRPC.
Sections of parameters are read here, in every form that people write; griffe finds the
sections that are omitted. It compiles nothing and runs nothing.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterator
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
_PARAMETER_TITLES = frozenset(
    {
        "args", "arguments", "keyword args", "keyword arguments", "other args",
        "other arguments", "other parameters", "other params", "parameters", "params",
    }
)  # fmt: skip
_GOOGLE_HEADER = re.compile(r"(\w[\w\s-]*):(?:\s+\S.*)?\s*")
_PARAMETER_HEADER = re.compile(r"(\w[\w ]{2,20}?) {0,4}[:\uff1a]\s*(.*)")
_SPHINX_PARAMETER = re.compile(
    r":(?:arg|argument|key|keyword|param|parameter)\b([^:\uff1a]*)[:\uff1a]\s*(.*)", re.DOTALL
)
_SPHINX_FIELD = re.compile(
    r":(?:arg|argument|cvar|except|exception|ivar|key|keyword|param|parameter|raise|raises|return"
    r"|returns|rtype|type|var|vartype)\b[^:\uff1a]*[:\uff1a]"
)
# Marks a line that is not to be taken for a header; Unicode reserves it for internal use.
_MARK = "\ufdd0"
# Characters of a line that a message quotes.
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class ParsedDocstring:
    """Text and parameter descriptions of a docstring."""

    #: The docstring without the sections on parameters, results, errors and examples.
    text: str = ""
    #: Descriptions of parameters by name.
    parameters: dict[str, str] = field(default_factory=dict)
    #: First lines of the entries in sections of parameters that describe none; the text has
    #: these entries.
    unread: tuple[str, ...] = ()

    def describe_unread(self) -> str:
        """Return the message of a diagnostic about `unread`, or ""."""
        if not self.unread:
            return ""
        shown = ", ".join(f'"{line[:_SHOWN]}"' for line in self.unread[:3])
        more = f" and {len(self.unread) - 3} more" if len(self.unread) > 3 else ""
        return (
            f"the docstring describes what is no parameter of the function: {shown}{more}; "
            "correct the name, or move the text out of the section"
        )


def parse_docstring(docstring: str | None, names: Collection[str]) -> ParsedDocstring:
    """Return the text of *docstring*, as it is in the source, and descriptions of *names*.

    *names* are all parameters of the function. The styles of Google, NumPy and Sphinx may be
    mixed; the first description of a parameter holds. Sections with other titles, such as
    "Note" or "Todo", stay in the text, and so do entries about other names; empty sections
    do not. Types and defaults in the docstring do not affect the schema.
    """
    text = inspect.cleandoc(docstring or "").strip()
    if not text or len(text) > _MAX_CHARACTERS:
        return ParsedDocstring(text)
    parameters = _Parameters(names)
    text = _without_empty_sections(_normalize_headers(text))
    # Sphinx fields are unambiguous. Google's come last: "x : int" in a NumPy section looks like
    # one of its headers.
    text = _split_sphinx(text, parameters)
    for split in (_split_numpy, _split_google):
        text = split(text, parameters)
    return ParsedDocstring(
        text.replace(_MARK, "").strip(), parameters.descriptions, tuple(parameters.unread)
    )


def _normalize_headers(text: str) -> str:
    """Return *text* with the headers of sections of parameters as Google or NumPy has them."""
    lines: list[str] = []
    source = text.split("\n")
    for line, following in zip(source, [*source[1:], ""], strict=True):
        header = _PARAMETER_HEADER.fullmatch(line)
        indent = _indentation(following)
        if header is None or header[1].lower() not in _PARAMETER_TITLES:
            lines.append(line)
        elif not header[2]:
            lines.append(header[1] if _is_underline(following) else f"{header[1]}:")
        elif indent:
            lines += [f"{header[1]}:", following[:indent] + header[2]]
        else:
            lines.append(line)
    return "\n".join(lines)


class _Parameters:
    """The descriptions of the parameters *names*, and what describes none of them."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self.descriptions: dict[str, str] = {}
        self.unread: list[str] = []

    def knows(self, names: Collection[str]) -> bool:
        """Return whether all *names* are parameters."""
        return bool(names) and all(name in self._names for name in names)

    def add(self, names: Collection[str], description: str) -> None:
        """Add the description of *names*."""
        for name in names:
            if description.strip():
                self.descriptions.setdefault(name, description.strip())

    def leave(self, lines: list[str]) -> list[str]:
        """Return the *lines* of an entry that stays in the text."""
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        if lines:
            self.unread.append(lines[0].strip())
        return lines

    def read_entries(self, lines: list[str]) -> list[str]:
        """Read the entries of a section of Google's style; return the lines that are left."""
        indent = _indentation(lines[0])
        left: list[str] = []
        for entry in self._split_entries(lines, indent):
            parsed = _parse_entry(entry[0], self.knows)
            if parsed is not None and self.knows(parsed.names):
                self.add(parsed.names, _description(parsed.text, entry[1:]))
            else:
                left += self.leave(entry)
        return left

    def _split_entries(self, lines: list[str], indent: int) -> Iterator[list[str]]:
        """Yield the lines of each entry; a line that begins none continues the one before."""
        entry: list[str] = []
        for line in lines:
            begins = (
                bool(line.strip())
                and _indentation(line) <= indent
                and _parse_entry(line, self.knows) is not None
            )
            if begins and entry:
                yield entry
                entry = []
            entry.append(line)
        if entry:
            yield entry


@dataclass(frozen=True, slots=True)
class _Entry:
    """Line that begins the description of parameters."""

    names: tuple[str, ...]
    text: str


_BULLET = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_ENTRY_NAMES = re.compile(
    r"(?P<mark>``|`|\*\*|__|)"
    r"(?P<names>\*{0,2}\w+(?:(?:\s*[,/]\s*|\s+and\s+)\*{0,2}\w+)*)"
    r"(?P<colon>[:\uff1a]?)(?P=mark)"
)
_NAME = re.compile(r"\w+")
_SEPARATOR = re.compile(
    r"\s*[:\uff1a]\s*|\s+--?\s+|\s*[-=]>\s*|\s*=\s+|\s{2,}(?=\S)|\s*[\u2013\u2014]\s*"
)
_BRACKETS = {"(": ")", "\uff08": "\uff09", "{": "}", "[": "]"}


def _parse_entry(line: str, knows: Callable[[Collection[str]], bool]) -> _Entry | None:
    """Return the entry that *line* begins: names, perhaps a type, a separator and text."""
    start = _BULLET.match(line)
    match = _ENTRY_NAMES.match(line, start.end() if start else 0)
    if match is None:
        return None
    names = tuple(name for name in _NAME.findall(match["names"]) if name != "and")
    rest = line[match.end() :]
    if match["colon"]:
        return _Entry(names, rest.strip())
    after_type = _without_type(rest)
    if separator := _SEPARATOR.match(after_type):
        return _Entry(names, after_type[separator.end() :].strip())
    if not knows(names):
        return None
    if after_type is not rest:
        return _Entry(names, after_type.strip())
    if not rest.strip():
        return _Entry(names, "")
    kind, colon, text = rest.partition(":")
    # Such as "name int: text"; other words before a colon belong to the description.
    return _Entry(names, (text if _is_type(kind) else rest).strip()) if colon else None


def _without_type(rest: str) -> str:
    """Return *rest* without a type in parentheses at its start."""
    stripped = rest.lstrip()
    opening = stripped[:1]
    if opening not in _BRACKETS:
        return rest
    depth = 0
    for index, character in enumerate(stripped):
        depth += (character == opening) - (character == _BRACKETS[opening])
        if depth == 0:
            return stripped[index + 1 :]
    return rest


_TYPE_WORDS = re.compile(r",? ?\b(?:optional|required|default\b.*)", re.DOTALL)
_JOINING_WORDS = re.compile(r" (?:and|of|or) ")
_PROSE = re.compile(r"\w \w|[.!?;\u3002]$")


def _is_type(text: str) -> bool:
    """Return whether *text* may be the type of a parameter, rather than its description."""
    kind = " ".join(text.split())
    kind = _JOINING_WORDS.sub("|", _TYPE_WORDS.sub("", kind)).strip()
    return kind.isascii() and _PROSE.search(kind) is None


def _description(first: str, lines: list[str]) -> str:
    """Return the description that begins with *first* and continues with indented *lines*."""
    rest = textwrap.dedent("\n".join(line.rstrip() for line in lines))
    return f"{first}\n{rest}" if first else rest


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _split_sphinx(text: str, parameters: _Parameters) -> str:
    """Return *text* without its field lists, whose parameters are read."""
    lines = text.split("\n")
    if not any(map(_SPHINX_FIELD.match, lines)):
        return text
    parts: list[str] = [""]
    fields: list[list[str]] = []
    in_fields = after_blank = False
    for line in lines:
        if _SPHINX_FIELD.match(line):
            in_fields = True
            fields.append([])
        elif in_fields and after_blank and line and not line.startswith((" ", ":")):
            # A field list ends at the first unindented paragraph.
            in_fields = False
            parts += [_read_fields(fields, parameters), ""]
            fields = []
        after_blank = not line.strip()
        if in_fields:
            fields[-1].append(line)
        else:
            parts[-1] += f"{line}\n"
    parts.append(_read_fields(fields, parameters))
    return _join(parts)


def _read_fields(fields: list[list[str]], parameters: _Parameters) -> str:
    """Read the parameters among *fields*; return the fields that are left."""
    left: list[str] = []
    for lines in fields:
        match = _SPHINX_PARAMETER.match(lines[0])
        if match is None:
            continue
        words = match[1].split()
        name = words[-1].strip("*`") if words else ""
        if parameters.knows([name]):
            parameters.add([name], _description(match[2], lines[1:]))
        else:
            left += parameters.leave(lines)
    # A mark keeps the later styles from reading them.
    return "\n".join(f"{_MARK}{line}" for line in left)


def _split_numpy(text: str, parameters: _Parameters) -> str:
    """Return *text* without the known underlined sections, whose parameters are read."""
    if not any(map(_is_underline, text.split("\n")[1:])):
        return text
    lines = _read_numpy_parameters(text.split("\n"), parameters)
    text = "\n".join(lines)
    underlines = {lines[index]: line for index, line in enumerate(lines[1:]) if _is_underline(line)}
    if not underlines:
        return text
    sections = _parse(text, griffe.Parser.numpy)
    if sections is None:
        return text
    parts: list[str] = []
    for section in sections:
        if isinstance(section, griffe.DocstringSectionText):
            parts.append(section.value)
        elif isinstance(section, griffe.DocstringSectionAdmonition):
            title = section.title or ""
            parts.append(f"{title}\n{underlines.get(title, '')}\n{section.value.description}")
    return _join(parts)


def _read_numpy_parameters(lines: list[str], parameters: _Parameters) -> list[str]:
    """Return *lines* without the sections of parameters, which are read."""
    kept: list[str] = []
    index = 0
    while index < len(lines):
        header = lines[index : index + 2]
        is_section = len(header) == 2 and _is_underline(header[1])
        if not is_section or header[0].strip().lower() not in _PARAMETER_TITLES:
            kept.append(lines[index])
            index += 1
            continue
        entries, index = _numpy_entries(lines, index + 2, parameters)
        left: list[str] = []
        for entry in entries:
            parsed = _parse_entry(entry[0], parameters.knows)
            if parsed is not None and parameters.knows(parsed.names):
                parameters.add(parsed.names, _numpy_description(parsed.text, entry[1:]))
            else:
                left += parameters.leave(entry)
        if left:
            # With a mark, the header begins no section.
            kept += [f"{_MARK}{header[0]}", f"{_MARK}{header[1]}", *left, ""]
        index = _skip_blank(lines, index, kept)
    return kept


def _skip_blank(lines: list[str], index: int, kept: list[str]) -> int:
    """Return the index of the line after a section; blank lines that follow *kept* are one."""
    while index < len(lines) and not lines[index].strip() and (not kept or not kept[-1].strip()):
        index += 1
    return index


def _numpy_entries(
    lines: list[str], index: int, parameters: _Parameters
) -> tuple[list[list[str]], int]:
    """Return the entries of the section whose first line is at *index*, and its end."""
    entries: list[list[str]] = []
    after_blank = False
    while index < len(lines):
        line = lines[index]
        if index + 1 < len(lines) and line.strip() and _is_underline(lines[index + 1]):
            break
        is_blank, is_entry = not line.strip(), not line.startswith(" ")
        if is_entry and not is_blank:
            parsed = _parse_entry(line, parameters.knows)
            # A paragraph after a blank line is text, unless it describes a parameter.
            if after_blank and entries and not (parsed and parameters.knows(parsed.names)):
                break
            entries.append([])
        elif not entries and not is_blank:
            entries.append([])
        if entries:
            entries[-1].append(line)
        after_blank = is_blank
        index += 1
    return entries, index


def _numpy_description(first: str, lines: list[str]) -> str:
    """Return the description of an entry; *first* follows its colon, as types do."""
    has_more = any(line.strip() for line in lines)
    is_type = not first.endswith((".", "。")) if has_more else _is_type(first)
    return _description("" if is_type else first, lines)


def _split_google(text: str, parameters: _Parameters) -> str:
    """Return *text* without the known sections with a colon, whose parameters are read."""
    lines = _read_google_parameters(text.split("\n"), parameters)
    text = "\n".join(lines)
    titles = [_google_title(line) for line in lines]
    if not any(title in _GOOGLE_TITLES for title in titles):
        return text
    marked = [
        f"{_MARK}{line}" if title and title not in _GOOGLE_TITLES else line
        for title, line in zip(titles, lines, strict=True)
    ]
    sections = _parse("\n".join(marked), griffe.Parser.google)
    if sections is None:
        return text
    return _join(
        [section.value for section in sections if isinstance(section, griffe.DocstringSectionText)]
    )


def _read_google_parameters(lines: list[str], parameters: _Parameters) -> list[str]:
    """Return *lines* without the sections of parameters, which are read."""
    kept: list[str] = []
    index = 0
    in_code = False
    while index < len(lines):
        header = lines[index].rstrip()
        in_code ^= header.startswith("```")
        end = index
        if not in_code and header.endswith(":") and header[:-1].lower() in _PARAMETER_TITLES:
            end = _google_end(lines, index + 1, parameters)
        if end > index + 1:
            block = lines[index + 1 : end]
            while not block[0].strip():
                block = block[1:]
            left = parameters.read_entries(block)
            if left:
                # With a mark, the header begins no section.
                kept += [f"{_MARK}{header}", *left, ""]
            index = _skip_blank(lines, end, kept)
        else:
            kept.append(lines[index])
            index += 1
    return kept


def _google_end(lines: list[str], start: int, parameters: _Parameters) -> int:
    """Return the end of the section whose lines begin at *start*, or *start* for none.

    Its entries are indented, or else each describes a parameter.
    """
    end = first = start
    while first < len(lines) and not lines[first].strip():
        first += 1
    is_indented = first < len(lines) and _indentation(lines[first]) > 0
    for index in range(first, len(lines)):
        line = lines[index]
        if not line.strip():
            continue
        if not _indentation(line):
            parsed = None if is_indented else _parse_entry(line, parameters.knows)
            if parsed is None or not parameters.knows(parsed.names):
                break
        end = index + 1
    return end


def _parse(text: str, style: griffe.Parser) -> _Sections | None:
    """Return the sections of *text*; None if griffe fails."""
    try:
        # griffe removes indentation again, in which it ignores the first line: that must be blank.
        return griffe.parse(griffe.Docstring(f"\n{text}"), style, warnings=False)
    except (LookupError, MemoryError, RecursionError, ValueError):
        # griffe reads beyond the last line of some malformed sections, and fails on some types.
        # Such a text is a description as it is.
        return None


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
