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


def read_docstring(text: str, names: Collection[str], longest: int) -> Described:
    """Return what the docstring *text* says of the parameters *names*.

    Its style is found by its sections. Of a text of more than *longest* characters no
    sections are read.
    """
    text = text.strip()
    if not text or len(text) > longest:
        return Described(text)
    written = griffe.Docstring(text)
    # What tells the styles apart wants the line after a section's first, if only its end.
    written.value += "\n"
    try:
        style, _ = griffe.infer_docstring_style(written)
        if style is None:
            return Described(text)
        sections = griffe.parse(written, style, warnings=False)
    except (LookupError, MemoryError, RecursionError, ValueError):
        # It looks beyond the last line of a section without any, and compiles what it takes
        # for types, though to a tree alone. Such a text is a description as it is.
        return Described(text)
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
    return Described("\n\n".join(filter(None, texts)), parameters)
