"""Values of the client in Java."""

from collections.abc import Iterable

from generate.api import Enum, Field, Message
from generate.plan import Plan, ValueFile
from generate.view import View, camel, lower_camel

__all__ = ["JavaDecoderView", "JavaEnumView", "JavaRecordView", "JavaView"]

_SCALARS = {
    "bool": "boolean",
    "bytes": "ByteString",
    "double": "double",
    "int32": "int",
    "int64": "long",
    "string": "String",
    "uint32": "long",
    "uint64": "long",
}
_BOXED = {"boolean": "Boolean", "double": "Double", "int": "Integer", "long": "Long"}
_LINE = 120
"""Columns of Palantir's format; comments are shorter."""

_FOLDER = "clients/java/sidecheck/src/generated/java/io/sidecheck/"


class JavaView(View):
    """A file of the package io.sidecheck."""

    language = "java"
    # Written as Palantir's formatter writes it, which the build checks.
    formatter = ()

    code_width = _LINE

    def wire_name(self, value: Enum | Message) -> str:
        """Return the type of protoc, whose simple name is often that of the value."""
        return f"io.sidecheck.v1.{value.wire_name}"

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a component."""
        type_ = self.single_type(message, field, "Json", _SCALARS)
        if field.is_repeated:
            return f"List<{_BOXED.get(type_, type_)}>"
        if self.may_be_unset(message, field):
            return f"Optional<{_BOXED.get(type_, type_)}>"
        return type_

    def member(self, word: str) -> str:
        """Return the constant for a *word*."""
        return word.upper().replace("-", "_")

    def reference(self, enum: Enum, word: str) -> str:
        """Return a link to a constant."""
        return f"{{@link {self.name(enum)}#{self.member(word)}}}"

    def code(self, name: str, is_field: bool) -> str:  # noqa: FBT001
        """Return the name of a component, or another name."""
        return f"{{@code {lower_camel(name) if is_field else name}}}"

    def comment(self, text: str, indent: str = "") -> list[str]:
        """Return the lines of a comment, which is one line if it fits."""
        line = f"{indent}/** {self.text(text)} */"
        if len(line) <= self.width and "\n" not in line:
            return [line]
        return [f"{indent}/**", *self.lines(text, f"{indent} * "), f"{indent} */"]


class JavaEnumView(JavaView):
    """An enumeration, in a file of its own."""

    template = "enum.java.j2"
    path = _FOLDER + "{camel}.java"

    def __init__(self, plan: Plan, file: ValueFile, enum: Enum) -> None:
        super().__init__(plan, file)
        self.enum = enum

    @classmethod
    def views(cls, plan: Plan, file: ValueFile) -> Iterable[View]:
        """Return a view of each enumeration."""
        return [cls(plan, file, enum) for enum in file.enums]

    @property
    def output(self) -> str:
        """Path of the file in the repository."""
        return f"{_FOLDER}{self.name(self.enum)}.java"

    @property
    def is_in_results(self) -> bool:
        """Whether responses have the enumeration."""
        return any(
            field.type == self.enum.wire_name
            for message in self.file.results
            for field in message.fields
        )


class JavaRecordView(JavaView):
    """A record, in a file of its own."""

    template = "record.java.j2"

    def __init__(self, plan: Plan, file: ValueFile, message: Message) -> None:
        super().__init__(plan, file)
        self.message = message

    @classmethod
    def views(cls, plan: Plan, file: ValueFile) -> Iterable[View]:
        """Return a view of each message."""
        return [cls(plan, file, message) for message in file.results]

    @property
    def output(self) -> str:
        """Path of the file in the repository."""
        return f"{_FOLDER}{self.name(self.message)}.java"

    @property
    def imports(self) -> list[str]:
        """Classes to import."""
        types = " ".join(self.type(self.message, field) for field in self.message.fields)
        return [f"java.util.{name}" for name in ("List", "Optional") if f"{name}<" in types]

    @property
    def header(self) -> str:
        """Declaration of the record up to its body."""
        components = [
            f"{self.type(self.message, field)} {lower_camel(field.name)}"
            for field in self.message.fields
        ]
        start = f"public record {self.name(self.message)}("
        line = f"{start}{', '.join(components)}) {{}}"
        if len(line) <= _LINE:
            return line
        return start + "\n        " + ",\n        ".join(components) + ") {}"

    def comment_lines(self) -> list[str]:
        """Return the lines of the comment, with a parameter for each component."""
        lines = ["/**", *self.lines(self.doc(self.message), " * "), " *"]
        for field in self.message.fields:
            text = f"{field.doc[:1].lower()}{field.doc[1:]}".removesuffix(".")
            name = f" * @param {lower_camel(field.name)} "
            lines += self._parameter(name, text)
        return [*lines, " */"]

    def _parameter(self, name: str, text: str) -> list[str]:
        # The name takes part in the wrapping of the first line.
        padding = " *     "
        marker = "\0" * (len(name) - len(padding))
        first, *rest = self.lines(text, padding, marker) if marker else self.lines(text, name)
        return [name + first.removeprefix(padding).removeprefix(marker), *rest]


class JavaDecoderView(JavaView):
    """The class that decodes the messages of one file."""

    template = "decoders.java.j2"
    path = _FOLDER + "{camel}Decoders.java"

    @property
    def class_name(self) -> str:
        """Name of the class."""
        return f"{camel(self.file.name)}Decoders"

    @property
    def decoded_enums(self) -> list[Enum]:
        """Enumerations that responses have."""
        types = {field.type for message in self.file.results for field in message.fields}
        return [enum for enum in self.file.enums if enum.wire_name in types]

    @property
    def imports(self) -> list[str]:
        """Classes to import."""
        text = " ".join(map(self.body, self.file.results))
        return [f"java.util.{name}" for name in ("List", "Optional") if f"{name}." in text]

    def function(self, value: Enum | Message) -> str:
        """Return the name of the method that decodes *value*."""
        name = self.name(value)
        return name[:1].lower() + name[1:]

    def body(self, message: Message) -> str:
        """Return the statement that makes the record."""
        arguments = [self.decoded(message, field) for field in message.fields]
        start = f"        return new {self.name(message)}("
        line = f"{start}{', '.join(arguments)});"
        if len(line) <= _LINE:
            return line
        return start + "\n                " + ",\n                ".join(arguments) + ");"

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        name = camel(field.name)
        value = f"message.get{name}{'List' if field.is_repeated else ''}()"
        if field.kind != "scalar":
            types: dict[str, Enum | Message] = {**self.plan.api.enums, **self.plan.api.messages}
            decode = self.function(types[field.type])
            if field.is_repeated:
                return f"Messages.decodeAll({value}, {self.class_name}::{decode})"
            value = f"{decode}({value})"
        elif field.is_repeated:
            return f"List.copyOf({value})"
        elif field.type == "uint32":
            value = f"Integer.toUnsignedLong({value})"
        elif self.is_json(message, field):
            value = f"ValidationMessages.json({value})"
        if self.may_be_unset(message, field):
            return f"message.has{name}() ? Optional.of({value}) : Optional.empty()"
        return value
