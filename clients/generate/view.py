"""View of one generated file, which the templates of all languages share."""

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from generate.api import Enum, Field, Message
from generate.plan import Plan, ValueFile

__all__ = ["View", "camel", "lower_camel"]


class View(ABC):
    """Names, types and comments of a file in one language; templates use its public parts."""

    #: Template, path of the output with ``{name}``, and program that formats it in place.
    template: ClassVar[str]
    path: ClassVar[str]
    formatter: ClassVar[Sequence[str]]
    #: Name of the language in values.toml.
    language: ClassVar[str]
    #: Maximum length of lines.
    width: ClassVar[int] = 100

    def __init__(self, plan: Plan, file: ValueFile) -> None:
        self.plan = plan
        self.file = file

    @classmethod
    def all_views(cls, plan: Plan) -> "list[View]":
        """Return the views of all files."""
        return [view for file in plan.files for view in cls.views(plan, file)]

    @classmethod
    def views(cls, plan: Plan, file: ValueFile) -> "Iterable[View]":
        """Return the views of *file*: one, or one for each value."""
        return [cls(plan, file)]

    @property
    def output(self) -> str:
        """Path of the file in the repository."""
        name = self.file.name
        return self.path.format(name=name, camel=camel(name), kebab=name.replace("_", "-"))

    def name(self, value: Enum | Message) -> str:
        """Return the name of a type."""
        return self.plan.client_name(value.wire_name)

    def doc(self, value: Enum | Message) -> str:
        """Return the comment of a type."""
        return self.plan.doc(value)

    def proto_module(self, value: Enum | Message) -> str:
        """Return the name of the .proto file of a type, without its folder and extension."""
        return self.plan.api.files[value.wire_name].rpartition("/")[2].removesuffix(".proto")

    def enum_of(self, field: Field) -> Enum:
        """Return the enumeration of a field."""
        return self.plan.api.enums[field.type]

    def is_json(self, message: Message, field: Field) -> bool:
        """Return whether a field is JSON text."""
        return self.plan.is_json(message, field)

    def may_be_unset(self, message: Message, field: Field) -> bool:
        """Return whether a field is absent from some values."""
        return self.plan.may_be_unset(message, field)

    @abstractmethod
    def type(self, message: Message, field: Field) -> str:
        """Return the type of a field."""

    @abstractmethod
    def reference(self, enum: Enum, word: str) -> str:
        """Return a reference to a member of an enumeration, for comments."""

    def code(self, name: str, is_field: bool) -> str:  # noqa: ARG002, FBT001  (for languages)
        """Return the *name* of a field, or another name, for comments."""
        return f"`{name}`"

    def text(self, text: str) -> str:
        """Return *text* of a comment with the names of the language."""
        return self.plan.render_doc(text, self.reference, self.code)

    def lines(self, text: str, prefix: str, first: str = "") -> list[str]:
        """Return the lines of the comment *text*, the first one after *first*."""
        paragraphs = self.text(text).split("\n\n")
        lines: list[str] = []
        for paragraph in paragraphs:
            if lines:
                lines.append(prefix.rstrip())
            lines += textwrap.wrap(
                paragraph,
                self.width,
                initial_indent=prefix if lines else prefix + first,
                subsequent_indent=prefix,
                break_long_words=False,
                break_on_hyphens=False,
            )
        return lines

    def single_type(
        self, message: Message, field: Field, json: str, scalars: Mapping[str, str]
    ) -> str:
        """Return the type of a field, or of its items."""
        if self.is_json(message, field):
            return json
        return scalars[field.type] if field.kind == "scalar" else self.plan.client_name(field.type)


def camel(name: str) -> str:
    """Return a word with hyphens, or a name with underscores, in upper camel case."""
    return "".join(part.capitalize() for part in name.replace("_", "-").split("-"))


def lower_camel(name: str) -> str:
    """Return a name in lower camel case."""
    upper = camel(name)
    return upper[:1].lower() + upper[1:]
