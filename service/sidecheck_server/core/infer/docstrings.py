"""Docstrings: what they say of a tool and of its parameters.

griffe reads the three styles. It parses the types that it finds, as trees, and runs
nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import griffe

__all__ = ["Described", "read_docstring"]


@dataclass(frozen=True, slots=True)
class Described:
    """What a docstring says."""

    #: The text without the sections of its style.
    text: str = ""
    #: The descriptions of parameters, by name.
    parameters: dict[str, str] = field(default_factory=dict)


_STYLES = (griffe.Parser.google, griffe.Parser.numpy, griffe.Parser.sphinx)


def read_docstring(text: str, names: Collection[str], longest: int) -> Described:
    """Return what the docstring *text* says of the parameters *names*.

    The style is the one in which it describes the most of them, and of equals the one in
    which it has the most sections; Google's comes before NumPy's and Sphinx's. Of a text
    of more than *longest* characters no sections are read.
    """
    text = text.strip()
    if not text or len(text) > longest:
        return Described(text)
    best = Described(text)
    most = (0, 1)
    for style in _STYLES:
        described, sections = _read(text, style, names)
        if (len(described.parameters), sections) > most:
            best, most = described, (len(described.parameters), sections)
    return best


def _read(text: str, style: griffe.Parser, names: Collection[str]) -> tuple[Described, int]:
    try:
        sections = griffe.parse(griffe.Docstring(text), style, warnings=False)
    except (ValueError, RecursionError, MemoryError):  # of what it takes for types
        return Described(text), 0
    texts: list[str] = []
    parameters: dict[str, str] = {}
    for section in sections:
        if isinstance(section, griffe.DocstringSectionText):
            texts.append(section.value.strip())
        elif isinstance(
            section,
            griffe.DocstringSectionParameters | griffe.DocstringSectionOtherParameters,
        ):
            for each in section.value:
                name = each.name.lstrip("*")
                if name in names and each.description:
                    parameters.setdefault(name, each.description.strip())
    return Described("\n\n".join(filter(None, texts)), parameters), len(sections)
