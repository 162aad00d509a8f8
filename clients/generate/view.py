"""View of one generated file, which the templates of all languages share."""

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from generate.api import Enum, EnumValue, Field, Message
from generate.plan import Plan, ValueFile

__all__ = ["NO_BREAK", "View", "camel", "decapitalize", "lower_camel"]

NO_BREAK = "\x1f"
"""Stands for a space of a comment at which no line ends."""


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

    def value_doc(self, enum: Enum, value: EnumValue) -> str:
        """Return the comment of a member of an enumeration."""
        is_unknown = value.word == self.plan.unknown_word(enum)
        return value.doc + " Also a value that this release does not know." * is_unknown

    def in_results(self, enum: Enum) -> bool:
        """Return whether responses have an enumeration."""
        return self.plan.is_decoded(enum)

    def unknown_word(self, enum: Enum) -> str:
        """Return the word that stands for unknown values, or "" for "unspecified"."""
        return self.plan.unknown_word(enum)

    def value_of(self, field: Field) -> Enum | Message:
        """Return the type of a field that is no scalar."""
        types: dict[str, Enum | Message] = {**self.plan.api.enums, **self.plan.api.messages}
        return types[field.type]

    def imported(self) -> dict[str, list[Enum | Message]]:
        """Return the types of fields that other files have, by name of the file."""
        imported: dict[str, list[Enum | Message]] = {}
        messages = (*self.file.results, *self.file.options)
        for field in (field for message in messages for field in message.fields):
            if field.kind == "scalar":
                continue
            file, value = self.plan.file_of(field.type), self.value_of(field)
            if file != self.file and value not in imported.setdefault(file.name, []):
                imported[file.name].append(value)
        return dict(sorted(imported.items()))

    def context(self, message: Message) -> list[Field]:
        """Return the fields of a value that its message lacks."""
        return [field for field in message.fields if field.is_context]

    def proto_module(self, value: Enum | Message) -> str:
        """Return the name of the .proto file of a type, without its folder and extension."""
        return self.plan.api.files[value.wire_name].rpartition("/")[2].removesuffix(".proto")

    def enum_of(self, field: Field) -> Enum:
        """Return the enumeration of a field."""
        return self.plan.api.enums[field.type]

    def is_json(self, message: Message, field: Field) -> bool:
        """Return whether a field is JSON text."""
        return self.plan.is_json(message, field)

    def may_be_empty_json(self, message: Message, field: Field) -> bool:
        """Return whether a field is JSON text that some values lack."""
        return self.plan.may_be_empty_json(message, field)

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
        return [line.replace(NO_BREAK, " ") for line in lines]

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


def decapitalize(text: str) -> str:
    """Return *text* with a small first letter, unless it begins with an initialism."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def lower_camel(name: str) -> str:
    """Return a name in lower camel case."""
    upper = camel(name)
    return upper[:1].lower() + upper[1:]
