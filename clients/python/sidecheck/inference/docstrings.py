"""What a docstring says of a function and of its parameters."""

import inspect
from collections.abc import Collection
from dataclasses import dataclass, field

import griffe

__all__ = ["Docs", "docs_of"]

_STYLES = (griffe.Parser.google, griffe.Parser.numpy, griffe.Parser.sphinx)


@dataclass(frozen=True, slots=True)
class Docs:
    """What a docstring says, without its sections."""

    #: Its summary and text, or "".
    text: str = ""
    #: The parameters that it describes, by name.
    parameters: dict[str, str] = field(default_factory=dict)


def docs_of(docstring: str | None, names: Collection[str]) -> Docs:
    """Read a docstring in the style of Google, NumPy or Sphinx, whichever it is in.

    That is the one in which it describes the most of the parameters *names*, and of
    those in which it has the most sections the first.
    """
    if not docstring or not docstring.strip():
        return Docs()
    best, most = Docs(inspect.cleandoc(docstring).strip()), (0, 1)
    for style in _STYLES:
        try:
            sections = griffe.Docstring(docstring).parse(style, warnings=False)
        except (ValueError, RecursionError):  # of what it takes for types
            continue
        read = _read(sections, names)
        if (found := (len(read.parameters), len(sections))) > most:
            best, most = read, found
    return best


def _read(sections: list[griffe.DocstringSection], names: Collection[str]) -> Docs:
    texts: list[str] = []
    parameters: dict[str, str] = {}
    for section in sections:
        if isinstance(section, griffe.DocstringSectionText):
            texts.append(section.value.strip())
        elif isinstance(
            section,
            griffe.DocstringSectionParameters | griffe.DocstringSectionOtherParameters,
        ):
            for one in section.value:
                name = one.name.lstrip("*")
                if name in names and one.description:
                    parameters.setdefault(name, one.description.strip())
    return Docs("\n\n".join(text for text in texts if text), parameters)
