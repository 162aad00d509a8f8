"""What a docstring says of a function and of its parameters."""

import inspect
from dataclasses import dataclass, field

import griffe

__all__ = ["Docs", "docs_of"]


@dataclass(frozen=True, slots=True)
class Docs:
    """What a docstring says, without its sections."""

    #: Its summary and text, or "".
    text: str = ""
    #: The parameters that it describes, by name.
    parameters: dict[str, str] = field(default_factory=dict)


def docs_of(docstring: str | None) -> Docs:
    """Read a docstring in the style of Google, NumPy or Sphinx, whichever it is in."""
    if not docstring:
        return Docs()
    written = griffe.Docstring(inspect.cleandoc(docstring))
    # What tells the styles apart wants the line after a section's first, if only its end.
    written.value += "\n"
    style, _ = griffe.infer_docstring_style(written)
    if style is None:
        return Docs(written.value.strip())
    texts: list[str] = []
    parameters: dict[str, str] = {}
    for section in written.parse(style, warnings=False):
        if isinstance(section, griffe.DocstringSectionText):
            texts.append(section.value.strip())
        elif isinstance(
            section,
            griffe.DocstringSectionParameters | griffe.DocstringSectionOtherParameters,
        ):
            for one in section.value:
                parameters.setdefault(one.name.lstrip("*"), one.description.strip())
    return Docs("\n\n".join(text for text in texts if text), parameters)
